/** Sessions that a server has forgotten: renewed within the call, which is sent again only if it cannot have run. */
import { assert, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../../_support/dialogue.ts"
import { named, url } from "./_support/fakeServer.ts"
import { sessions, streamed } from "./_support/sessions.ts"

const connect = (options?: Mcp.Options) => Mcp.connect("shop", Mcp.http({ url }), options)

const causeOf = (error: unknown): Mcp.McpError => {
  assert(error instanceof ToolError.ExecutionError && error.cause instanceof Mcp.McpError)
  return error.cause
}

it.effect(
  "a call of an unsafe tool is sent again once, in a new session, where the server knows the old one no longer [P1380]",
  () =>
    Effect.gen(function* () {
      const { forget, forgetCalls, layer, ran, sent } = sessions()
      const server = yield* Effect.provide(connect(), layer)
      const tool = named(yield* server.tools, "sell")
      assert.strictEqual(tool.definition.sideEffects, "unsafe")
      assert.deepStrictEqual((yield* Tool.call(tool, {})).content, [{ type: "text", text: "in s1" }])
      forget()
      assert.deepStrictEqual((yield* Tool.call(tool, {})).content, [{ type: "text", text: "in s2" }])
      assert.deepStrictEqual(ran, ["s1", "s2"])
      const calls = sent.filter(({ method }) => method === "tools/call")
      assert.deepStrictEqual(
        calls.map(({ session }) => session),
        ["s1", "s1", "s2"]
      )
      // the new session is asked for without the old one
      const initialized = sent.filter(({ method }) => method === "initialize")
      assert.deepStrictEqual(
        initialized.map(({ session }) => session),
        [null, null]
      )
      forget()
      assert.deepStrictEqual(
        (yield* server.tools).map(({ name }) => name),
        ["sell"]
      )
      forgetCalls()
      const cause = causeOf(yield* Effect.flip(Tool.call(tool, {})))
      assert.deepInclude(cause, { reason: "connection", tool: "sell" })
      assert.include(cause.message, "MCP session expired")
      assert.strictEqual(sent.filter(({ method }) => method === "tools/call").length, 5)
      assert.deepStrictEqual(ran, ["s1", "s2"])
    })
)

it.effect(
  "a call at work when another one learns that the session is forgotten keeps its answer, and does not run again [P1380]",
  () =>
    Effect.gen(function* () {
      const slow = streamed()
      const { forget, layer, ran } = sessions(({ id, session }) =>
        id === 3 && session === "s1" ? slow.response : undefined
      )
      const server = yield* Effect.provide(connect(), layer)
      const tool = named(yield* server.tools, "sell")
      const first = yield* Effect.forkChild(Tool.call(tool, {}))
      yield* Effect.repeat(Effect.yieldNow, { until: () => ran.length === 1 })
      forget()
      assert.deepStrictEqual((yield* Tool.call(tool, {})).content, [{ type: "text", text: "in s2" }])
      yield* Effect.repeat(calm, { times: 10 })
      assert.isUndefined(first.pollUnsafe())
      slow.send({ id: 3, result: { content: [{ type: "text", text: "at last" }] } })
      assert.deepStrictEqual((yield* Fiber.join(first)).content, [{ type: "text", text: "at last" }])
      assert.deepStrictEqual(ran, ["s1", "s2"])
    })
)

it.effect("a call that the server has begun is not sent again where a later message of it gets the 404 [P1380]", () =>
  Effect.gen(function* () {
    const slow = streamed()
    const { forget, layer, ran, sent } = sessions(({ session }) => (session === "s1" ? slow.response : undefined))
    const server = yield* Effect.provide(connect(), layer)
    const tool = named(yield* server.tools, "sell")
    const fiber = yield* Effect.forkChild(Effect.flip(Tool.call(tool, {})))
    yield* Effect.repeat(Effect.yieldNow, { until: () => ran.length === 1 })
    forget()
    // the answer to this is the message that the server refuses
    slow.send({ id: "p", method: "ping" })
    const cause = causeOf(yield* Fiber.join(fiber))
    assert.deepInclude(cause, { reason: "connection" })
    assert.deepStrictEqual(ran, ["s1"])
    assert.deepStrictEqual(sent.at(-1), { method: "reply", session: "s1" })
    // the next call is another one
    assert.deepStrictEqual((yield* Tool.call(tool, {})).content, [{ type: "text", text: "in s2" }])
  })
)

it.effect("calls that find the session forgotten at the same time share the new one [P1380]", () =>
  Effect.gen(function* () {
    const { forget, layer, ran, sent } = sessions()
    const server = yield* Effect.provide(connect(), layer)
    const tool = named(yield* server.tools, "sell")
    forget()
    yield* Effect.forEach([1, 2, 3], () => Tool.call(tool, {}), { concurrency: "unbounded" })
    assert.deepStrictEqual(ran, ["s2", "s2", "s2"])
    assert.strictEqual(sent.filter(({ method }) => method === "initialize").length, 2)
  })
)

it.effect("the time limit of a call includes its new session [P1380]", () =>
  Effect.gen(function* () {
    const { forget, layer, ran } = sessions(({ id, session }) =>
      session === "s1" ? undefined : new Promise<Response>(() => void id)
    )
    const server = yield* Effect.provide(connect({ timeout: "10 seconds" }), layer)
    const tool = named(yield* server.tools, "sell")
    forget()
    const fiber = yield* Effect.forkChild(Effect.flip(Tool.call(tool, {})))
    yield* Effect.repeat(Effect.yieldNow, { until: () => ran.length === 1 })
    yield* TestClock.adjust("9999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepInclude(causeOf(yield* Fiber.join(fiber)), { reason: "timeout" })
  })
)

it.effect(
  "a listener of changes hears of a server that has forgotten the session, and goes on in the new one [P1380]",
  () =>
    Effect.gen(function* () {
      const { forget, layer, tools } = sessions(undefined, () => {
        const stream = streamed()
        stream.end()
        return stream.response
      })
      const server = yield* Effect.provide(connect(), layer)
      const heard: Array<ReadonlyArray<string>> = []
      yield* Effect.forkScoped(
        Stream.runForEach(server.changes, (tools) => Effect.sync(() => heard.push(tools.map(({ name }) => name))))
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(heard, [])
      tools[0] = { name: "buy", inputSchema: { type: "object", properties: { n: { type: "number" } } } }
      forget()
      yield* TestClock.adjust("1 second")
      yield* Effect.repeat(Effect.yieldNow, { until: () => heard.length === 1 })
      assert.deepStrictEqual(heard, [["buy"]])
    })
)

it.effect("a listener of changes hears of it too where a call finds the session forgotten [P1380]", () =>
  Effect.gen(function* () {
    const { forget, layer, tools } = sessions(undefined, () => streamed().response)
    const server = yield* Effect.provide(connect(), layer)
    const heard: Array<ReadonlyArray<string>> = []
    yield* Effect.forkScoped(
      Stream.runForEach(server.changes, (tools) => Effect.sync(() => heard.push(tools.map(({ name }) => name))))
    )
    yield* calm
    const tool = named(yield* server.tools, "sell")
    tools.push({ name: "buy", inputSchema: { type: "object", properties: { n: { type: "number" } } } })
    forget()
    yield* Tool.call(tool, {})
    yield* Effect.repeat(Effect.yieldNow, { until: () => heard.length === 1 })
    assert.deepStrictEqual(heard, [["sell", "buy"]])
  })
)
