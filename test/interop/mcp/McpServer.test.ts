/** Tools of ours served over MCP; `test/sdk` tries it with the official clients. */
import { assert } from "@effect/vitest"
import { Approval, Recovery, Tool } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as McpServer from "@kintsugi/interop/McpServer"
import { Cause, Deferred, Effect, ErrorReporter, Exit, Fiber, Layer, Logger, Schema } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { hintsOf, sideEffectsOf } from "../../../packages/interop/src/mcp/hints.ts"
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

// Finds out nothing of its own: the gates and the tables of a tool are those of core
it.live("a call from outside goes through the tables of its tool and the Approver of the server [P1107]", () =>
  Effect.gen(function* () {
    const { runs, tool } = noted("pay", [Effect.fail(new Error("once")), Effect.succeed("paid")])
    const asked: Array<string> = []
    const approver = Approval.layer(({ arguments: args }) =>
      Effect.sync(() => {
        asked.push(JSON.stringify(args))
        return asked.length === 1 ? Approval.refuse("too dear") : Approval.approve
      })
    )
    const served = McpServer.http({
      name: "ours",
      version: "1",
      path: "/mcp",
      tools: [tool.pipe(Tool.requireApproval(), Tool.onError({ orElse: Recovery.retry({ retries: 1 }) }))]
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
    assert.strictEqual(runs(), 2)
    assert.deepStrictEqual(asked, ['{"text":"a"}', '{"text":"b"}'])
  })
)

it("the hints that we give are read back as what they were made of [P1107]", () => {
  for (const sideEffects of ["none", "idempotent", "unsafe"] as const)
    assert.strictEqual(sideEffectsOf(hintsOf(sideEffects)), sideEffects)
  assert.strictEqual(hintsOf("undeclared"), undefined)
})

it("built-in tools and tools of one name are not served [P1107]", () => {
  const { tool } = noted("note", [])
  const serving = (tools: ReadonlyArray<Tool.AnyTool>) => () =>
    McpServer.http({ name: "ours", version: "1", path: "/mcp", tools })
  assert.throws(serving([tool, tool]), /there are two tools named 'note'/)
  assert.throws(serving([Tool.escalate]), /the built-in tool 'escalate' cannot be served/)
})

it.live("a tool that passes through two servers keeps its schema, its hints and its texts [P1107]", () =>
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

it.live(
  "a tool that dies is an internal error to its client, and no log line and no report shows its key [P1394]",
  () =>
    Effect.gen(function* () {
      const key = `sk-proj-${"a1B2c3D4".repeat(6)}`
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, message }) => {
        lines.push(String(JSON.stringify(message)) + Cause.pretty(cause))
      })
      const reported: Array<Cause.Cause<unknown>> = []
      const reporter = ErrorReporter.make(({ cause }) => void reported.push(cause))
      const { tool: dying } = noted("dying", [Effect.die(new Error(`cannot reach it with ${key}`))])
      const { tool: both } = noted("both", [
        Effect.failCause(Cause.combine(Cause.fail(new Error("before")), Cause.die(new Error(`closed with ${key}`))))
      ])
      // what an interruption ends is no failure to log, as a client that goes away causes it
      const { tool: torn } = noted("torn", [
        Effect.failCause(Cause.combine(Cause.interrupt(1), Cause.die(new Error(`torn off with ${key}`))))
      ])
      const { tool: alive } = noted("alive", [Effect.succeed("noted")])
      const served = McpServer.http({ name: "ours", version: "1", path: "/mcp", tools: [dying, both, torn, alive] })
      const observed = Layer.provide(served, [Logger.layer([logger]), ErrorReporter.layer([reporter])])
      const { dispose, handler } = HttpRouter.toWebHandler(observed, { disableLogger: true })
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const server = yield* Effect.provide(
        Mcp.connect("ours", Mcp.http({ url })),
        clientOf((request) => handler(request))
      )
      for (const name of ["dying", "both"]) {
        const error = yield* Effect.flip(call(server, name))
        assert.match(error.message, /Internal error/)
        assert.notInclude(error.message, "reach")
      }
      yield* Effect.flip(call(server, "torn"))
      assert.deepStrictEqual((yield* call(server, "alive")).content, [{ type: "text", text: "noted" }])
      const logged = lines.filter((line) => /cannot reach it|closed with|torn off/.test(line))
      assert.strictEqual(logged.length, 2)
      assert.match(logged.join(), /'dying'.*cannot reach it with <redacted>.*'both'.*closed with <redacted>/s)
      for (const line of lines) assert.notInclude(line, "a1B2c3D4")
      assert.isAtLeast(reported.length, 2)
      for (const one of reported) assert.notInclude(Cause.pretty(one), "a1B2c3D4")
    })
)

// Finds out nothing of its own: the server of Effect interrupts a request whose client goes away
it.live("a client that goes away interrupts its call, and nothing is logged of it [P1394]", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => void lines.push(message))
    const started = yield* Deferred.make<void>()
    const ended = yield* Deferred.make<boolean>()
    const { tool } = noted("waiting", [
      Effect.onExit(Effect.andThen(Deferred.succeed(started, undefined), Effect.never), (exit) =>
        Deferred.succeed(ended, Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
      )
    ])
    const served = McpServer.http({ name: "ours", version: "1", path: "/mcp", tools: [tool] })
    const { dispose, handler } = HttpRouter.toWebHandler(Layer.provide(served, Logger.layer([logger])), {
      disableLogger: true
    })
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const server = yield* Effect.provide(
      Mcp.connect("ours", Mcp.http({ url })),
      clientOf((request) => handler(request))
    )
    const fiber = yield* Effect.forkChild(call(server, "waiting"))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(fiber)
    assert.isTrue(yield* Deferred.await(ended))
    assert.deepStrictEqual(lines, [])
  })
)
