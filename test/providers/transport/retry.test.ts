import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type { Transport } from "@kintsugi/providers"
import { Duration, Effect, Exit, Fiber } from "effect"
import {
  calm,
  completion,
  failsWith,
  failureOf,
  fakeNetwork,
  finished,
  generate,
  listening,
  ok,
  openAi,
  pass,
  type Reaction,
  respond,
  silence,
  streamParts,
  throwing
} from "../../_support/network.ts"

const calling = (script: ReadonlyArray<Reaction> | Reaction, transport?: Transport.Options) => {
  const network = fakeNetwork(script)
  return { network, call: generate.pipe(Effect.provide(openAi(transport)), Effect.provide(network.layer)) }
}

const reset = throwing("ECONNRESET")

describe("resends", () => {
  it.effect("sends three times at most, after 250 and 500 milliseconds, to the millisecond [A801]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(503), respond(503), respond(503)])
      const fiber = yield* Effect.forkChild(call)
      yield* calm
      assert.deepStrictEqual(network.times(), [0])
      yield* pass(249)
      assert.deepStrictEqual(network.times(), [0])
      yield* pass(1)
      assert.deepStrictEqual(network.times(), [0, 250])
      yield* pass(499)
      assert.deepStrictEqual(network.times(), [0, 250])
      yield* pass(1)
      assert.deepStrictEqual(network.times(), [0, 250, 750])
      failsWith(yield* Fiber.await(fiber), LlmError.ModelOverloadedError)
    })
  )

  it.effect("sends no more once one send has succeeded [A801]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(500), ok])
      const exit = yield* finished(call)
      assert(Exit.isSuccess(exit))
      assert.strictEqual(exit.value.finish, "stop")
      assert.deepStrictEqual(network.times(), [0, 250])
    })
  )

  for (const status of [408, 409, 425, 429, 500, 501, 502, 503, 504, 505, 520, 521, 522, 523, 524, 529, 598, 599]) {
    it.effect(`resends a request that failed with ${status} [A801 P1405]`, () =>
      Effect.gen(function* () {
        const { call, network } = calling([respond(status), ok])
        assert(Exit.isSuccess(yield* finished(call)))
        assert.deepStrictEqual(network.times(), [0, 250])
      })
    )
  }

  it.effect("resends a request that met a fault of the connection [A801]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([reset, throwing("ECONNREFUSED"), ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.deepStrictEqual(network.times(), [0, 250, 750])
    })
  )

  for (const status of [400, 401, 402, 403, 404, 405, 410, 413, 422, 499, 304]) {
    it.effect(`sends a request that failed with ${status} once [A802 P1405]`, () =>
      Effect.gen(function* () {
        const { call, network } = calling([respond(status, status === 304 ? "" : "{}")].map(nullBody(status)))
        failureOf(yield* finished(call))
        assert.deepStrictEqual(network.times(), [0])
      })
    )
  }

  const bodies: ReadonlyArray<readonly [number, object, new (...args: Array<never>) => LlmError.LlmError]> = [
    [429, { code: "insufficient_quota", message: "You exceeded your current quota" }, LlmError.QuotaExhaustedError],
    [503, { type: "invalid_request_error", message: "bad field" }, LlmError.InvalidRequestError],
    [429, { code: "content_filter", message: "no" }, LlmError.ContentFilteredError],
    [503, { code: "context_length_exceeded", message: "too long" }, LlmError.ContextTooLongError],
    [
      429,
      { code: "rate_limit_exceeded", message: "Request too large for m: Limit 10, Requested 20." },
      LlmError.ContextTooLongError
    ],
    [409, { code: "insufficient_quota", message: "You exceeded your current quota" }, LlmError.QuotaExhaustedError],
    [409, { code: "context_length_exceeded", message: "too long" }, LlmError.ContextTooLongError],
    [409, { message: "Input is too long for requested model." }, LlmError.ContextTooLongError],
    [520, { type: "invalid_request_error", message: "bad field" }, LlmError.InvalidRequestError],
    [524, { code: "content_filter", message: "no" }, LlmError.ContentFilteredError],
    [501, { message: "this model does not support tools" }, LlmError.CapabilityMismatchError]
  ]
  for (const [status, error, type] of bodies) {
    it.effect(`sends ${status} once if its body has ${type.name}: ${JSON.stringify(error)} [A803 P1405]`, () =>
      Effect.gen(function* () {
        const { call, network } = calling([respond(status, { error })])
        failsWith(yield* finished(call), type)
        assert.deepStrictEqual(network.times(), [0])
      })
    )
  }

  it.effect("resends an overload that comes as 429, or within a 200, as an overload [A803]", () =>
    Effect.gen(function* () {
      const overload = { error: { type: "engine_overloaded_error", message: "The engine is currently overloaded" } }
      const { call, network } = calling([respond(429, overload), respond(200, overload), respond(200, overload)])
      failsWith(yield* finished(call), LlmError.ModelOverloadedError)
      assert.deepStrictEqual(network.times(), [0, 250, 750])
    })
  )

  it.effect(
    "resends a conflict that its body names, whole, streamed and within a 200, and its class stays [P1405]",
    () =>
      Effect.gen(function* () {
        const conflict = { error: { type: "conflict_error", message: "The resource was modified concurrently" } }
        const aborted = { error: { code: 409, status: "ABORTED", message: "The operation was aborted" } }
        for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
          const network = fakeNetwork([respond(409, conflict), respond(200, aborted), respond(409)])
          const asked = call.pipe(Effect.provide(openAi()), Effect.provide(network.layer))
          const error = failsWith(yield* finished(asked), LlmError.InvalidRequestError)
          assert.deepInclude(error, { status: 409, isRetryable: false })
          const [first = 0, ...others] = network.times()
          assert.deepStrictEqual(
            others.map((at) => at - first),
            [250, 750]
          )
        }
      })
  )

  it.effect("resends no status whose server forbids it with x-should-retry: false [P1405 P802]", () =>
    Effect.gen(function* () {
      for (const status of [409, 429, 500, 501, 520, 529, 599]) {
        const { call, network } = calling([respond(status, "{}", { "x-should-retry": "false" })])
        assert.strictEqual(failureOf(yield* finished(call)).shouldRetry, false)
        assert.strictEqual(network.sent.length, 1)
      }
    })
  )

  it.effect("sends once for an unreadable answer, though it claims success [A802]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(200, "<html>log in</html>")])
      failsWith(yield* finished(call), LlmError.UnknownLlmError)
      assert.deepStrictEqual(network.times(), [0])
    })
  )
})

/** A `Response` with such a status may have no body. */
const nullBody =
  (status: number) =>
  (reaction: Reaction): Reaction =>
    status === 304 ? () => Effect.sync(() => new Response(null, { status })) : reaction

describe("limits of time", () => {
  it.effect("ends a silent request as RequestTimeoutError, sent once, after 300 seconds [A804 T19]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([silence])
      const fiber = yield* Effect.forkChild(call)
      yield* pass(299_999)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* pass(1)
      const error = failsWith(yield* Fiber.await(fiber), LlmError.RequestTimeoutError)
      assert.deepStrictEqual(error.timeout, Duration.seconds(300))
      assert.include(error.operation, "https://api.test/v1/chat/completions")
      assert.deepStrictEqual(network.times(), [0])
    })
  )

  it.effect("counts all attempts and waits together [A805]", () =>
    Effect.gen(function* () {
      const slow: Reaction = () => Effect.delay(respond(503)(), "400 millis")
      const { call, network } = calling([slow, slow, slow], { requestTimeout: "1 second" })
      const fiber = yield* Effect.forkChild(call)
      // 400 of the first attempt, 250 of waiting, 350 of the second attempt
      yield* pass(999)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* pass(1)
      failsWith(yield* Fiber.await(fiber), LlmError.RequestTimeoutError)
      assert.deepStrictEqual(network.times(), [0, 650])
    })
  )

  it.effect("starts no wait that would end after the limit [A805]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(503), respond(503), respond(503)], { requestTimeout: "750 millis" })
      const exit = yield* finished(call, 1)
      failsWith(exit, LlmError.ModelOverloadedError)
      assert.deepStrictEqual(network.times(), [0, 250])
    })
  )

  it.effect("has no limit if the option is Infinity [A805]", () =>
    Effect.gen(function* () {
      const { call } = calling([silence], { requestTimeout: Infinity })
      const fiber = yield* Effect.forkChild(call)
      yield* pass(1e9)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* Fiber.interrupt(fiber)
    })
  )
})

describe("the last failure", () => {
  it.effect("fails with the last error as a single attempt would have: class, words, id, hint [A807]", () =>
    Effect.gen(function* () {
      const last = respond(
        429,
        { error: { code: "rate_limit_exceeded", message: "third" } },
        { "x-request-id": "req-3", "retry-after": "1" }
      )
      const alone = failsWith(yield* finished(calling([last], { retry: false }).call), LlmError.RateLimitError)
      const { call, network } = calling([reset, respond(500, { error: { message: "second" } }), last])
      const error = failsWith(yield* finished(call), LlmError.RateLimitError)
      assert.deepStrictEqual({ ...error }, { ...alone })
      assert.strictEqual(error.message, alone.message)
      assert.strictEqual(error.requestId, "req-3")
      assert.strictEqual(error.status, 429)
      assert.strictEqual(error.detail, "third")
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(1))
      assert.deepStrictEqual(network.times(), [0, 250, 750])
    })
  )

  it.effect("waits as long as the server requires, if that is longer than its own wait [A809]", () =>
    Effect.gen(function* () {
      const hinted = (seconds: string) => respond(503, "{}", { "retry-after": seconds })
      const { call, network } = calling([hinted("0.1"), hinted("7"), ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.deepStrictEqual(network.times(), [0, 250, 7250])
    })
  )

  it.effect("waits up to a minute for a server [A809 P804]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(429, "{}", { "retry-after": "60" }), ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.deepStrictEqual(network.times(), [0, 60_000])
    })
  )

  it.effect(
    "gives up at once if the server requires a wait beyond a minute, and the error has the wait [A809 P804]",
    () =>
      Effect.gen(function* () {
        const { call, network } = calling([respond(429, "{}", { "retry-after": "60.001" })])
        const { effect, events } = listening(call)
        const error = failsWith(yield* finished(effect, 0), LlmError.RateLimitError)
        assert.deepStrictEqual(error.retryAfter, Duration.millis(60_001))
        assert.deepStrictEqual(network.times(), [0])
        assert.deepStrictEqual(
          events.map((event) =>
            event.type === "verdict" ? [event.verdict, event.gaveUp, event.attempt, event.hint] : []
          ),
          [["retry", true, 1, Duration.millis(60_001)]]
        )
      })
  )

  it.effect("gives up at once if the server requires a wait beyond the time left [A809]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(429, "{}", { "retry-after": "10" })], { requestTimeout: "10 seconds" })
      const error = failsWith(yield* finished(call, 0), LlmError.RateLimitError)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(10))
      assert.deepStrictEqual(network.times(), [0])
    })
  )

  it.effect("takes advice not as a hint: a 429 without one waits 250 milliseconds [A809]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(429), ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.deepStrictEqual(network.times(), [0, 250])
    })
  )

  it.effect("computes the waits after a hint as if there had been none [P805]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(503, "{}", { "retry-after": "5" }), respond(503), ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.deepStrictEqual(network.times(), [0, 5000, 5500])
    })
  )

  it.effect("resends nothing if the server forbids it [P802]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(503, "{}", { "x-should-retry": "false" })])
      failsWith(yield* finished(call), LlmError.ModelOverloadedError)
      assert.deepStrictEqual(network.times(), [0])
    })
  )
})

it.effect("sends the same body and headers every time", () =>
  Effect.gen(function* () {
    const { call, network } = calling([reset, reset, respond(200, completion("x"))])
    assert(Exit.isSuccess(yield* finished(call)))
    const [first, ...others] = network.sent
    for (const { body, headers } of others) {
      assert.strictEqual(body, first?.body)
      assert.deepStrictEqual(headers, first?.headers)
    }
  })
)
