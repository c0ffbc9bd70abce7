/** Tools of ours served over MCP; `test/sdk` tries it with the official clients. */
import { assert } from "@effect/vitest"
import { Approval, Approver, Recovery, Tool } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as McpServer from "@kintsugi/interop/McpServer"
import { Effect, Layer, Schema } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { it } from "../../_support/run.ts"
import { call, clientOf, named, ours, url } from "./_support/fakeServer.ts"

const noted = (name: string, steps: ReadonlyArray<Effect.Effect<string, Error>>) => {
  let runs = 0
  const tool = Tool.make(name, {
    description: "Notes.",
    parameters: Schema.Struct({ text: Schema.optionalKey(Schema.String) }),
    success: Schema.String,
    sideEffects: "idempotent",
    run: () => steps[runs++] ?? Effect.die(new Error(`run ${runs} is not in the script`))
  })
  return { tool, runs: () => runs }
}

it.live("a call from outside goes through the tables of its tool [P1107]", () =>
  Effect.gen(function* () {
    const flaky = noted("flaky", [Effect.fail(new Error("once")), Effect.succeed("noted")])
    const patient = flaky.tool.pipe(Tool.onError({ orElse: Recovery.retry({ retries: 1 }) }))
    const server = yield* Effect.provide(Mcp.connect("ours", Mcp.http({ url })), yield* ours({ tools: [patient] }))
    const { content } = yield* call(server, "flaky")
    assert.deepStrictEqual(content, [{ type: "text", text: "noted" }])
    assert.strictEqual(flaky.runs(), 2)
  })
)

it.live("a call that needs approval waits for the Approver of the server [P1107]", () =>
  Effect.gen(function* () {
    const { runs, tool } = noted("pay", [Effect.succeed("paid")])
    const asked: Array<string> = []
    const approver = Approver.layer(({ arguments: args }) =>
      Effect.sync(() => {
        asked.push(JSON.stringify(args))
        return asked.length === 1 ? Approval.refuse("too dear") : Approval.approve
      })
    )
    const served = McpServer.http({
      name: "ours",
      version: "1",
      path: "/mcp",
      tools: [tool.pipe(Tool.requireApproval())]
    })
    const { dispose, handler } = HttpRouter.toWebHandler(Layer.provide(served, approver), { disableLogger: true })
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const server = yield* Effect.provide(
      Mcp.connect("ours", Mcp.http({ url })),
      clientOf((request) => handler(request))
    )
    const refused = yield* Effect.flip(call(server, "pay", { text: "a" }))
    assert.match(refused.message, /The call of tool 'pay' was denied and not run: too dear/)
    assert.strictEqual(runs(), 0)
    const { content } = yield* call(server, "pay", { text: "b" })
    assert.deepStrictEqual(content, [{ type: "text", text: "paid" }])
    assert.deepStrictEqual(asked, ['{"text":"a"}', '{"text":"b"}'])
  })
)

it("the hints that we give are read back as what they were made of [P1107]", () => {
  for (const sideEffects of ["none", "idempotent", "unsafe"] as const)
    assert.strictEqual(Mcp.sideEffectsOf(McpServer.hintsOf(sideEffects)), sideEffects)
  assert.strictEqual(McpServer.hintsOf("undeclared"), undefined)
})

it("built-in tools and tools of one name are not served [P1107]", () => {
  const { tool } = noted("note", [])
  const serving = (tools: ReadonlyArray<Tool.AnyTool>) => () =>
    McpServer.http({ name: "ours", version: "1", path: "/mcp", tools })
  assert.throws(serving([tool, tool]), /there are two tools named 'note'/)
  assert.throws(serving([Tool.escalate]), /the built-in tool 'escalate' cannot be served/)
})

it.live("a tool that passes through two servers keeps its schema, its hints and what it says [P1107]", () =>
  Effect.gen(function* () {
    const { tool } = noted("note", [Effect.succeed("noted"), Effect.fail(new Error("no paper"))])
    const connect = (tools: ReadonlyArray<Tool.AnyTool>) =>
      Effect.flatMap(ours({ tools }), (client) => Effect.provide(Mcp.connect("ours", Mcp.http({ url })), client))
    const near = yield* connect([tool])
    const far = yield* connect(yield* near.tools)
    const note = named(yield* far.tools, "note")
    assert.deepStrictEqual(note.definition.spec(), tool.definition.spec())
    assert.strictEqual(note.definition.sideEffects, "idempotent")
    assert.deepStrictEqual((yield* Tool.call(note, {})).content, [{ type: "text", text: "noted" }])
    const error = yield* Effect.flip(Tool.call(note, {}))
    assert.match(error.message, /no paper/)
  })
)

it.live("what a client nests too deeply is refused or passed over, and what a tool does is text [P1393]", () =>
  Effect.gen(function* () {
    const deep = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels)
    const tool = Tool.make("dig", {
      description: "Digs.",
      parameters: Schema.Struct({ a: Schema.optionalKey(Schema.Json), levels: Schema.optionalKey(Schema.Finite) }),
      success: Schema.Json,
      sideEffects: "none",
      run: ({ levels = 1 }): Effect.Effect<Schema.Json> => Effect.succeed(JSON.parse(deep(levels)))
    })
    const served = McpServer.http({ name: "ours", version: "1", path: "/mcp", tools: [tool] })
    const { dispose, handler } = HttpRouter.toWebHandler(served, { disableLogger: true })
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const meta = (more: string) => {
      const of = "io.modelcontextprotocol"
      return `"_meta":{"${of}/protocolVersion":"2026-07-28","${of}/clientInfo":{"name":"c","version":"1"},"${of}/clientCapabilities":{}${more}}`
    }
    const asked = (method: string, params: string) =>
      Effect.promise(async () => {
        const response = await handler(
          new Request(url, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              "mcp-protocol-version": "2026-07-28",
              "mcp-method": method,
              "mcp-name": "dig"
            },
            body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}}}`
          })
        )
        return response.json()
      })
    for (const levels of [1200, 6000, 20_000]) {
      const { result } = yield* asked("tools/call", `"name":"dig","arguments":${deep(levels)},${meta("")}`)
      assert.isTrue(result.isError)
      assert.match(result.content[0].text, /the arguments are nested too deeply/)
      const further = yield* asked("tools/list", `"junk":${deep(levels)},${meta(`,"x":${deep(levels)}`)}`)
      assert.strictEqual(further.result.tools[0].name, "dig")
      const unsaid = yield* asked("tools/call", `"name":"dig","arguments":{},${meta(`,"x":${deep(levels)}`)}`)
      assert.deepStrictEqual(unsaid.result.structuredContent, { a: 1 })
    }
    const { result } = yield* asked("tools/call", `"name":"dig","arguments":{"levels":900},${meta("")}`)
    assert.strictEqual(result.content[0].text, deep(900))
    assert.notProperty(result, "structuredContent")
  })
)
