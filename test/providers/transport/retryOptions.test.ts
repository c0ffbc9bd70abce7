/** The options of resends, and what callers and listeners see of resends. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { OpenAi, Transport } from "@kintsugi/providers"
import { Cause, Duration, Effect, Exit, Fiber, Redacted, Schedule } from "effect"
import {
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
  throwing
} from "../../_support/network.ts"

const calling = (script: ReadonlyArray<Reaction> | Reaction, transport?: Transport.Options) => {
  const network = fakeNetwork(script)
  return { network, call: generate.pipe(Effect.provide(openAi(transport)), Effect.provide(network.layer)) }
}

const reset = throwing("ECONNRESET")

describe("options", () => {
  it.effect("takes a count, waits and a cap [A813]", () =>
    Effect.gen(function* () {
      const { call, network } = calling(respond(500), {
        retry: { maxAttempts: 5, initialBackoff: "1 second", maxBackoff: "3 seconds" }
      })
      failsWith(yield* finished(call), LlmError.ServerError)
      assert.deepStrictEqual(network.times(), [0, 1000, 3000, 6000, 9000])
    })
  )

  it.effect("takes extra runs as well as all runs [A813]", () =>
    Effect.gen(function* () {
      const { call, network } = calling(respond(500), { retry: { retries: 1 } })
      failsWith(yield* finished(call), LlmError.ServerError)
      assert.deepStrictEqual(network.times(), [0, 250])
    })
  )

  it.effect("switched off adds no attempt, no wait, no event and no wrapper [A813]", () =>
    Effect.gen(function* () {
      const { call, network } = calling(respond(503), { retry: false })
      const { effect, events } = listening(call)
      failsWith(yield* finished(effect, 0), LlmError.ModelOverloadedError)
      assert.deepStrictEqual(network.times(), [0])
      assert.deepStrictEqual(events, [])
    })
  )

  it("refuses senseless options at construction [A813]", () => {
    const senseless: ReadonlyArray<Transport.Options> = [
      { retry: { maxAttempts: 0 } },
      { retry: { maxAttempts: 2.5 } },
      { retry: { retries: -1 } },
      { retry: { initialBackoff: Number.NaN } },
      { requestTimeout: 0 },
      { requestTimeout: Number.NaN },
      { requestTimeout: -1 },
      { maxReplyBytes: 0 },
      { maxEventBytes: Number.NaN },
      { maxBodyBytes: -1 }
    ]
    for (const retry of [3, "twice", true]) {
      // what JavaScript may write
      const given = retry as never
      assert.throws(
        () => Transport.explain({ retry: given }),
        TypeError,
        `Transport: retry is ${retry}; it takes options`
      )
    }
    for (const transport of senseless) {
      assert.throws(
        () => OpenAi.layer({ model: "m", apiKey: Redacted.make("k"), transport }),
        RangeError,
        undefined,
        JSON.stringify(transport)
      )
    }
  })

  it.effect("is reusable: each call has its own count [A813]", () =>
    Effect.gen(function* () {
      const { call, network } = calling([respond(500), ok, respond(500), ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert(Exit.isSuccess(yield* finished(call)))
      assert.strictEqual(network.sent.length, 4)
    })
  )
})

describe("observers", () => {
  it.effect(
    "passes only failures that its own resends did not heal to the layer around it: 3 and 3 are at most 9 [A815]",
    () =>
      Effect.gen(function* () {
        const { call, network } = calling(respond(503))
        failsWith(yield* finished(Effect.retry(call, Schedule.recurs(2))), LlmError.ModelOverloadedError)
        assert.strictEqual(network.sent.length, 9)
      })
  )

  it.effect("reports each resend before its wait, and the last giving up [A815]", () =>
    Effect.gen(function* () {
      const { call } = calling([respond(503, "{}", { "retry-after": "2" }), reset, respond(500)])
      const { effect, events } = listening(call)
      const exit = yield* finished(effect)
      const error = failureOf(exit)
      assert.deepStrictEqual(
        events.map((event) =>
          event.type === "verdict"
            ? [event.at, event.layer, event.verdict, event.gaveUp, event.tag, Duration.toMillis(event.delay)]
            : []
        ),
        [
          [0, "transport", "retry", false, "ModelOverloadedError", 2000],
          [2000, "transport", "retry", false, "NetworkError", 500],
          [2500, "transport", "retry", true, "ServerError", 0]
        ]
      )
      const [first, second, third] = events
      assert(first?.type === "verdict" && second?.type === "verdict" && third?.type === "verdict")
      assert.deepStrictEqual([first.attempt, second.attempt, third.attempt], [1, 2, 3])
      assert.deepStrictEqual(first.hint, Duration.seconds(2))
      assert.notProperty(second, "hint")
      assert.strictEqual(third.error, error)
    })
  )

  it.effect("emits nothing for a call that succeeds at once, or must not be resent [A815]", () =>
    Effect.gen(function* () {
      for (const script of [[ok], [respond(401)]]) {
        const { effect, events } = listening(calling(script).call)
        yield* finished(effect)
        assert.deepStrictEqual(events, [])
      }
    })
  )

  it.effect("stops at once when it is interrupted while it waits [A111]", () =>
    Effect.gen(function* () {
      const { call, network } = calling(respond(503))
      const fiber = yield* Effect.forkChild(call)
      yield* pass(100)
      yield* Fiber.interrupt(fiber)
      yield* pass(10_000)
      const exit = yield* Fiber.await(fiber)
      assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.deepStrictEqual(network.times(), [0])
    })
  )

  it.effect("resends nothing after a defect or an interruption, alone or beside a failure [A110 A111]", () =>
    Effect.gen(function* () {
      const dying: Reaction = () => Effect.die(new Error("bug"))
      const { call, network } = calling([dying])
      const exit = yield* finished(call)
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.strictEqual(network.sent.length, 1)

      const beside =
        (other: Cause.Cause<never>): Reaction =>
        () =>
          Effect.failCause(Cause.combine(Cause.fail(new TypeError("fetch failed")), other))
      for (const other of [Cause.die(new Error("bug")), Cause.interrupt(1)]) {
        const both = calling([beside(other)])
        const exit = yield* finished(both.call)
        assert(Exit.isFailure(exit))
        assert.isTrue(Cause.hasDies(exit.cause) || Cause.hasInterrupts(exit.cause))
        assert.strictEqual(both.network.sent.length, 1)
      }
    })
  )
})
