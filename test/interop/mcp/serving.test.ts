/** Connections and servers at their edges: limits, names, which refusals end connecting, and what a served tool answers. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect, Exit, Schema, Scope } from "effect"
import { call, clientOf, inputSchema, named, ours, url, withTools } from "./_support/fakeServer.ts"

it("time limits are finite and above 0 [P1386]", () => {
  for (const option of ["timeout", "connectTimeout"])
    for (const value of [0, -1, Number.POSITIVE_INFINITY])
      assert.throws(
        () => Mcp.connect("shop", Mcp.http({ url }), { [option]: value }),
        RangeError,
        `Mcp: ${option} must be a finite duration above 0, got ${value}`
      )
})

it.effect("a client says who it is, in its own name or in that of the program [P1107]", () =>
  Effect.gen(function* () {
    for (const [options, clientInfo] of [
      [{}, { name: "kintsugi", version: "0.0.0" }],
      [{ client: { name: "desk", version: "7" } }, { name: "desk", version: "7" }]
    ] as const) {
      const { asked, layer } = withTools([])
      yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url }), options), layer)
      assert.deepStrictEqual(asked.find(({ method }) => method === "initialize")?.params["clientInfo"], clientInfo)
    }
  })
)

it.effect("a server that refuses the caller is asked once, one that may not know the version for each [P1386]", () =>
  Effect.gen(function* () {
    const requestsFor = (status: number) =>
      Effect.gen(function* () {
        let requests = 0
        const layer = clientOf(async () => {
          requests++
          return new Response(null, { status })
        })
        yield* Effect.flip(Effect.provide(Mcp.connect("shop", Mcp.http({ url })), layer))
        return requests
      })
    for (const status of [300, 302, 399, 401, 403, 407, 429])
      assert.strictEqual(yield* requestsFor(status), 1, String(status))
    for (const status of [400, 404, 406, 500]) assert.strictEqual(yield* requestsFor(status), 5, String(status))
  })
)

it.effect(
  "a tool that is included has its title if it has no description, and the side effects and the prefix of the options [P1107]",
  () =>
    Effect.gen(function* () {
      const tools = [
        { name: "a", inputSchema, title: "A", description: "Does a." },
        { name: "b", inputSchema, title: "B" },
        { name: "c", inputSchema },
        { name: "d", inputSchema }
      ]
      const options: Mcp.Options = {
        prefix: "always",
        maxResultChars: 7,
        include: ({ name }) => name !== "d",
        sideEffects: ({ name }) => (name === "a" ? "undeclared" : "none")
      }
      const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url }), options), withTools(tools).layer)
      assert.deepStrictEqual(
        (yield* server.tools).map(({ definition, name }) => [
          name,
          definition.foreignName,
          definition.description,
          definition.server,
          definition.kind,
          definition.maxResultChars,
          definition.sideEffects
        ]),
        [
          ["shop_a", "a", "Does a.", "shop", "mcp-tool", 7, "undeclared"],
          ["shop_b", "b", "B", "shop", "mcp-tool", 7, "none"],
          ["shop_c", "c", "", "shop", "mcp-tool", 7, "none"]
        ]
      )
      assert.isUndefined(server.instructions)
    })
)

const give = Tool.make("give", {
  description: "Gives.",
  parameters: Schema.Struct({ value: Schema.Json }),
  success: Schema.Json,
  run: ({ value }) => Effect.succeed(value)
})

it.effect("an object is sent as data too, and any other result as a text alone [P1107]", () =>
  Effect.gen(function* () {
    const server = yield* Effect.provide(Mcp.connect("ours", Mcp.http({ url })), yield* ours({ tools: [give] }))
    const given = (value: Schema.Json) => call(server, "give", { value })
    for (const [value, text] of [
      [{ a: 1 }, '{"a":1}'],
      [{}, "{}"]
    ] as const)
      assert.deepStrictEqual(yield* given(value), { content: [{ type: "text", text }], structured: value })
    for (const [value, text] of [
      [[1], "[1]"],
      ["so", "so"],
      ["{", "{"],
      [5, "5"],
      [null, "null"]
    ] as const)
      assert.deepStrictEqual(yield* given(value), { content: [{ type: "text", text }] })
    // its side effects are not declared
    const [tool] = yield* server.list
    assert.isUndefined(tool?.annotations)
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "none",
      run: () => Effect.succeed("seen")
    })
    const safe = yield* ours({ tools: [look] })
    const [declared] = yield* (yield* Effect.provide(Mcp.connect("ours", Mcp.http({ url })), safe)).list
    assert.deepInclude<object>(Object(declared?.annotations), {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true
    })
  })
)

it.effect("browsers of allowed origins may send requests, and no others [P1107]", () =>
  Effect.gen(function* () {
    const isServed = (allowedOrigins: ReadonlyArray<string> | undefined, origin: string) =>
      Effect.gen(function* () {
        const layer = yield* ours({ tools: [give], ...(allowedOrigins === undefined ? {} : { allowedOrigins }) })
        const connecting = Mcp.connect("ours", Mcp.http({ url, headers: { origin } }))
        return Exit.isSuccess(yield* Effect.exit(Effect.provide(connecting, layer)))
      })
    const site = "https://a.test"
    assert.deepStrictEqual(
      [yield* isServed([site], site), yield* isServed([site], "https://b.test"), yield* isServed(undefined, site)],
      [true, false, false]
    )
  })
)

it.effect("progress of any form is a number that grows, with its total and its words [P1107]", () =>
  Effect.gen(function* () {
    const steps: ReadonlyArray<unknown> = [
      "begun",
      5,
      { total: 3 },
      { progress: 7, message: "so", total: "3" },
      { message: 5 }
    ]
    const work = Tool.make("work", {
      description: "Works.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { progress }) => Effect.as(Effect.forEach(steps, progress, { discard: true }), "done")
    })
    const server = yield* Effect.provide(Mcp.connect("ours", Mcp.http({ url })), yield* ours({ tools: [work] }))
    const tool = named(yield* server.tools, "work")
    const heard: Array<unknown> = []
    const context = { attempt: 1, callId: "c", idempotencyKey: "c", agent: "a", runScope: Scope.makeUnsafe() }
    yield* tool.definition.run({}, { ...context, progress: (data) => Effect.sync(() => heard.push(data)) })
    assert.deepStrictEqual(heard, [
      { progress: 1, message: "begun" },
      { progress: 2 },
      { progress: 3, total: 3 },
      { progress: 7, message: "so" },
      { progress: 8 }
    ])
  })
)
