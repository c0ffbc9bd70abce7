/** The loopback server itself: its clock, its refusals, its secrets and its end. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { failsWith } from "../../_support/network.ts"
import { content, generate, modelAt, serving } from "../_support/loopback.ts"

describe("the server", () => {
  it.effect("waits by the clock of its test", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const server = yield* serving([
        Fault.delayed(Effect.andThen(Deferred.succeed(asked, undefined), Effect.sleep("1 minute")))
      ])
      const fiber = yield* Effect.forkChild(Effect.provide(generate, modelAt(server.url)))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).content, content)
    })
  )

  it.live("answers a body that is no request, or a call without a result, with 400, as the real service does", () =>
    Effect.gen(function* () {
      const server = yield* serving([])
      const post = (body: string) =>
        Effect.promise(async () => {
          const headers = { authorization: "Bearer any" }
          return (await fetch(`${server.url}/chat/completions`, { method: "POST", body, headers })).status
        })
      assert.strictEqual(yield* post("nonsense"), 400)
      const orphan = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
      }
      const result = { role: "tool", tool_call_id: "c1", content: "x" }
      const asked = { role: "user", content: "hi" }
      assert.strictEqual(yield* post(JSON.stringify({ model: "m", messages: [asked, orphan] })), 400)
      assert.strictEqual(yield* post(JSON.stringify({ model: "m", messages: [asked, orphan, asked, result] })), 400)
      assert.strictEqual(yield* post(JSON.stringify({ model: "m", messages: [asked, orphan, result] })), 200)
    })
  )

  it.live("has what it received, as it came, and shows no key", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(() => Effect.succeed({ body: "{}" }))
      const send = (path: string, init: RequestInit) =>
        Effect.promise(async () => (await fetch(`${server.url}${path}`, init)).json())
      yield* send("/a?b=1", { method: "POST", body: '{"c":1}', headers: { authorization: "Bearer k", "X-Own": "1" } })
      yield* send("/d", {})
      yield* send("/e", { method: "PUT", body: "no JSON" })
      const requests = yield* server.requests
      assert.notInclude(JSON.stringify(requests), "Bearer")
      const [first, ...others] = requests
      assert.strictEqual(first?.headers["x-own"], "1")
      assert.notProperty(first?.headers, "authorization")
      assert.strictEqual(first?.authorization && Redacted.value(first.authorization), "Bearer k")
      assert.deepInclude(first, { number: 1, method: "POST", path: "/a?b=1", text: '{"c":1}', body: { c: 1 } })
      assert.deepStrictEqual(
        others.map(({ at: _at, headers: _headers, ...rest }) => rest),
        [
          { number: 2, method: "GET", path: "/d", text: "", body: undefined },
          { number: 3, method: "PUT", path: "/e", text: "no JSON", body: undefined }
        ]
      )
    })
  )

  it.live("sends the head of an answer before its first piece", () =>
    Effect.gen(function* () {
      const released = yield* Deferred.make<void>()
      const held = Effect.succeed({ status: 202, body: "so", beforePiece: () => Deferred.await(released) })
      const server = yield* LoopbackServer.make(() => held)
      const response = yield* Effect.promise(() => fetch(server.url))
      assert.strictEqual(response.status, 202)
      yield* Deferred.succeed(released, undefined)
      assert.strictEqual(yield* Effect.promise(() => response.text()), "so")
    })
  )

  it.live("stops with its scope, and drops its connections", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const exit = yield* Effect.gen(function* () {
        const silent = Fault.delayed(Effect.andThen(Deferred.succeed(started, undefined), Effect.never))
        const server = yield* serving([silent])
        const fiber = yield* Effect.forkDetach(Effect.provide(generate, modelAt(server.url, { retry: false })))
        yield* Deferred.await(started)
        return fiber
      }).pipe(Effect.scoped, Effect.flatMap(Fiber.await))
      failsWith(exit, LlmError.NetworkError)
    })
  )

  it.live("answers with 500 where its handler fails or throws, and says why", () =>
    Effect.gen(function* () {
      const handlers: ReadonlyArray<Parameters<typeof LoopbackServer.make>[0]> = [
        () => Effect.die(new Error("the handler is out")),
        () => {
          throw new Error("the handler is out")
        }
      ]
      for (const handler of handlers) {
        const server = yield* LoopbackServer.make(handler)
        const response = yield* Effect.promise(() => fetch(server.url))
        assert.strictEqual(response.status, 500)
        const text = yield* Effect.promise(() => response.text())
        assert.match(text, /^the handler died: Error: the handler is out/)
      }
    })
  )
})
