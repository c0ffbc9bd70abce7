/** How a connection is made: how long a version is tried, which is tried next, and when it listens. */
import { assert, it } from "@effect/vitest"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect, Fiber, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../_support/dialogue.ts"
import { cached, call, clientOf, fake, inputSchema, text, url, withTools } from "./_support/fakeServer.ts"
import { sessions, streamed } from "./_support/sessions.ts"

const connect = (options?: Mcp.Options) => Mcp.connect("shop", Mcp.http({ url }), options)

const quiet = Effect.repeat(calm, { times: 20 })

it.effect("the version that a server names is tried next, and none twice [P1107]", () =>
  Effect.gen(function* () {
    for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const) {
      const { asked, layer } = withTools([], undefined, version)
      assert.strictEqual((yield* Effect.provide(connect(), layer)).version, version)
      const methods = asked.flatMap(({ headers, method }) => {
        const tried = headers.get("mcp-protocol-version")
        return method === "initialize" || method === "server/discover" ? [`${method} ${tried}`] : []
      })
      const others = version === "2025-11-25" ? [] : [`initialize ${version}`]
      assert.deepStrictEqual(methods, ["server/discover 2026-07-28", "initialize 2025-11-25", ...others])
    }
  })
)

/** A server that answers its first request when the test says so. */
const slow = (answer: object) => {
  const methods: Array<string> = []
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const layer = clientOf(async (request) => {
    const { id, method } = await request.json()
    methods.push(method)
    if (id === undefined) return new Response(null, { status: 202 })
    await gate
    return Response.json({ jsonrpc: "2.0", id, result: answer })
  })
  return { layer, methods, release: () => release() }
}

it.effect.each([
  {
    versions: ["2025-11-25", "2025-06-18"],
    method: "initialize",
    answer: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "f", version: "1" } }
  },
  {
    versions: ["2026-07-28"],
    method: "server/discover",
    answer: { ...cached, supportedVersions: ["2026-07-28"], capabilities: {} }
  }
] as const)("a version that is no guess, $versions.0, has the whole time for its answer [P1386]", (tried) =>
  Effect.gen(function* () {
    const { layer, methods, release } = slow(tried.answer)
    const connecting = yield* Effect.forkChild(
      Effect.provide(connect({ versions: tried.versions, connectTimeout: "1 minute" }), layer)
    )
    yield* quiet
    yield* TestClock.adjust("59 seconds")
    yield* quiet
    assert.deepStrictEqual([methods, connecting.pollUnsafe()], [[tried.method], undefined])
    release()
    assert.strictEqual((yield* Fiber.join(connecting)).version, tried.versions[0])
  })
)

it.effect("the newest version has five seconds, or half of the time, if there are others [P1386]", () =>
  Effect.gen(function* () {
    for (const [connectTimeout, probe] of [
      ["1 minute", 5000],
      ["4 seconds", 2000]
    ] as const) {
      const methods: Array<string> = []
      const layer = clientOf(async (request) => {
        const { id, method } = await request.json()
        methods.push(method)
        return id === undefined ? new Response(null, { status: 202 }) : new Promise<Response>(() => undefined)
      })
      const connecting = yield* Effect.forkChild(Effect.exit(Effect.provide(connect({ connectTimeout }), layer)))
      yield* quiet
      yield* TestClock.adjust(probe - 1)
      yield* quiet
      assert.notInclude(methods, "initialize")
      yield* TestClock.adjust(1)
      yield* quiet
      assert.include(methods, "initialize")
      yield* Fiber.interrupt(connecting)
    }
  })
)

it.effect("a server that declares it is listened to at once, by one request of its version [P1107]", () =>
  Effect.gen(function* () {
    for (const listChanged of [true, false]) {
      const sent: Array<Readonly<Record<string, unknown>>> = []
      const stream = streamed()
      const layer = clientOf(async (request) => {
        const message = await request.json()
        sent.push(message)
        if (message.method === "subscriptions/listen") return stream.response
        const capabilities = { tools: listChanged ? { listChanged } : {} }
        const result = { ...cached, supportedVersions: ["2026-07-28"], capabilities, tools: [] }
        return Response.json({ jsonrpc: "2.0", id: message.id, result })
      })
      const server = yield* Effect.provide(connect(), layer)
      yield* quiet
      const listening = () => sent.filter(({ method }) => method === "subscriptions/listen")
      assert.lengthOf(listening(), listChanged ? 1 : 0)
      // those who ask for changes share it
      for (let nth = 0; nth < 2; nth++) yield* Effect.forkChild(Stream.runDrain(server.changes))
      yield* quiet
      const { _meta } = Object(sent[0]?.["params"])
      assert.deepStrictEqual(listening(), [
        {
          jsonrpc: "2.0",
          id: "listen",
          method: "subscriptions/listen",
          params: { _meta, notifications: { toolsListChanged: true } }
        }
      ])
      assert.isDefined(_meta)
    }
  })
)

it.effect(
  "in a version with sessions only those who ask for changes make it listen, once, in the session [P1380]",
  () =>
    Effect.gen(function* () {
      const { layer, sent } = sessions(undefined, () => streamed().response)
      const server = yield* Effect.provide(connect(), layer)
      yield* server.tools
      yield* quiet
      const listening = () => sent.filter(({ method }) => method === "GET")
      assert.deepStrictEqual(listening(), [])
      for (let nth = 0; nth < 2; nth++) yield* Effect.forkChild(Stream.runDrain(server.changes))
      yield* quiet
      assert.deepStrictEqual(listening(), [{ method: "GET", session: "s1" }])
    })
)

it.effect("an answer as events may have comments and breaks, and come in pieces [P1107]", () =>
  Effect.gen(function* () {
    const { layer } = withTools([{ name: "sell", inputSchema }], ({ id }) => {
      const answer = JSON.stringify({ jsonrpc: "2.0", id, result: { content: text("sold") } }, null, 1)
      const data = answer.split("\n").map((line) => `data: ${line}`)
      const whole = `: hello\n\n${data.join("\r\n")}\n\n`
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const at of [0, 1, 2, 3, 4])
            controller.enqueue(new TextEncoder().encode(whole.slice(at * 12, at === 4 ? undefined : at * 12 + 12)))
          controller.close()
        }
      })
      return new Response(body, { headers: { "content-type": "Text/Event-Stream; charset=utf-8" } })
    })
    const server = yield* Effect.provide(connect(), layer)
    assert.deepStrictEqual((yield* call(server, "sell")).content, [{ type: "text", text: "sold" }])
  })
)

it("the secrets of a server are what it gets redacted: headers and their parts, variables, arguments, the address [P202]", () => {
  const secret = Redacted.make
  const basic = btoa("ann:pass:word")
  assert.deepStrictEqual(
    Mcp.http({
      url: secret("https://a.test/mcp?key=k9"),
      headers: {
        plain: "x",
        token: secret("t 1"),
        authorization: secret(`basic ${basic}`),
        other: secret("Basics YQ==")
      }
    }).secrets,
    ["t 1", "1", `basic ${basic}`, basic, "ann:pass:word", "pass:word", "Basics YQ==", "YQ==", "k9", "", ""]
  )
  assert.deepStrictEqual(Mcp.http({ url }).secrets, [])
  const program = { command: "dig", args: ["-a", secret("of args")], env: { A: "x", B: secret("of env") } }
  assert.deepStrictEqual(Mcp.stdio(program).secrets, ["of env", "env", "of args", "args"])
  assert.deepStrictEqual(Mcp.stdio({ command: "dig" }).secrets, [])
})

const outputSchema = (type: string) => ({
  type: "object",
  properties: { n: { type }, m: { type: "number" } },
  required: ["n"]
})

it.effect(
  "data is checked against all of the schema that the server has now, and need not be there [P1107 P1548]",
  () =>
    Effect.gen(function* () {
      const tools = [{ name: "count", inputSchema, outputSchema: outputSchema("number") }]
      let result: object = { content: [], structuredContent: { n: "x", m: "y" } }
      const { layer } = fake(({ method }) => (method === "tools/list" ? { tools } : result))
      const server = yield* Effect.provide(connect({ onChange: "accept" }), layer)
      const [tool] = yield* server.tools
      assert(tool !== undefined)
      const context = { attempt: 1, callId: "c", idempotencyKey: "c", agent: "a" } as never
      const run = Effect.suspend(() => tool.definition.run({}, context))
      const wrong = yield* Effect.flip(run)
      assert.deepInclude<object>(wrong as object, { kind: "mcp-tool", tool: "count" })
      assert.match(String(wrong), /n: Expected number[^]*m: Expected number/)
      result = { content: text("no data") }
      assert.deepStrictEqual(yield* run, { content: [{ type: "text", text: "no data" }] })
      // the definition is another one now
      tools[0] = { name: "count", inputSchema, outputSchema: outputSchema("string") }
      result = { content: [], structuredContent: { n: "x" } }
      yield* Effect.flip(run)
      yield* server.list
      assert.deepStrictEqual(yield* run, { content: [], structured: { n: "x" } })
    })
)

it.effect("a definition beyond a bound is refused by `bind` too [P1391]", () =>
  Effect.gen(function* () {
    const server = yield* Effect.provide(connect({ bounds: { nodes: 3 } }), withTools([]).layer)
    const large = { name: "sell", inputSchema: { type: "object", properties: { a: {}, b: {}, c: {}, d: {} } } }
    assert.throws(
      // cast: tools come as JSON
      () => server.bind([{ server: "shop", name: "sell", tool: large as never }]),
      "The input schema of tool 'sell' of MCP server 'shop'"
    )
  })
)
