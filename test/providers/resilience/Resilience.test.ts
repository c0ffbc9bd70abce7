import { assert, describe, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Context, Effect } from "effect"
import { CircuitBreaker, RateLimiter } from "effect/persistence"
import { overload, played } from "../../_support/guard.ts"
import { failsWith } from "../../_support/network.ts"
import { bothWays, failing, instant, refused } from "./_support/guardedCalls.ts"

describe("stores", () => {
  bothWays("those of the context are shared between guards", (modelCall) =>
    Effect.gen(function* () {
      const options: Resilience.Options = {
        breaker: { failures: 1 },
        limits: [{ requests: 2, per: "1 hour", maxWait: 0 }]
      }
      const [one, other] = yield* Effect.all([Resilience.make(options), Resilience.make(options)])
      yield* Effect.provide(modelCall, one(instant))
      yield* Effect.provide(modelCall, other(instant))
      failsWith(yield* Effect.exit(Effect.provide(modelCall, one(instant))), LlmError.RateLimitError)
      yield* Effect.exit(Effect.provide(modelCall, one(played(() => Effect.fail(overload), { name: "sick" }))))
      refused(yield* Effect.exit(Effect.provide(modelCall, other(played(() => Effect.void, { name: "sick" })))))
    }).pipe(Effect.provide([CircuitBreaker.layerStoreMemory(), RateLimiter.layerStoreMemory]))
  )

  const brokenLimiter = new RateLimiter.RateLimiterError({
    reason: new RateLimiter.RateLimitStoreError({ message: "no store" })
  })
  const brokenBreaker = new CircuitBreaker.CircuitBreakerError({
    reason: new CircuitBreaker.CircuitBreakerStoreError({ message: "no store" })
  })
  const broken = Context.make(RateLimiter.RateLimiterStore, {
    fixedWindow: () => Effect.fail(brokenLimiter),
    tokenBucket: () => Effect.fail(brokenLimiter),
    adaptiveConsume: () => Effect.fail(brokenLimiter),
    adaptiveFeedback: () => Effect.fail(brokenLimiter)
  }).pipe(
    Context.add(CircuitBreaker.CircuitBreakerStore, {
      admit: () => Effect.fail(brokenBreaker),
      record: () => Effect.fail(brokenBreaker),
      state: () => Effect.fail(brokenBreaker)
    })
  )
  const parts: ReadonlyArray<readonly [string, Resilience.Options]> = [
    ["a limit", { limits: [{ requests: 1, per: "1 hour", maxWait: 0 }] }],
    ["a limit of tokens", { limits: [{ tokens: 1, per: "1 hour", maxWait: 0 }] }],
    ["what a server teaches", { adaptive: true }],
    ["a circuit", { breaker: { failures: 1 } }]
  ]
  for (const [what, options] of parts) {
    bothWays(`without its store ${what} lets calls through, unless the option fails them`, (modelCall) =>
      Effect.gen(function* () {
        const lenient = yield* Resilience.make(options)
        for (let n = 0; n < 3; n++) yield* Effect.provide(modelCall, lenient(instant))
        const model = failing()
        const strict = yield* Resilience.make({ ...options, onStoreError: "fail" })
        const error = failsWith(
          yield* Effect.exit(Effect.provide(modelCall, strict(model.layer))),
          LlmError.UnknownLlmError
        )
        assert.include(error.message, "no store")
        assert.strictEqual(model.state.calls, 0)
      }).pipe(Effect.provide(broken))
    )
  }
})

it("refuses senseless options when it is made", () => {
  const senseless: ReadonlyArray<readonly [Resilience.Options, string]> = [
    [{ concurrency: 0 }, "concurrency must be a whole number of at least 1, got 0"],
    [{ concurrency: 1.5 }, "concurrency must be a whole number of at least 1, got 1.5"],
    [{ breaker: { failures: 0 } }, ""],
    [{ breaker: { failures: 1, rate: {} } }, "failures must not stand beside rate"],
    [{ breaker: { rate: { threshold: 2 } } }, ""],
    [{ breaker: { openFor: 0 } }, "openFor must be above 0, got 0"],
    [{ breaker: { openFor: "1e3 seconds" } }, "openFor must be above 0, got 1e3 seconds"],
    [{ breaker: { maxOpenFor: Number.NaN } }, "maxOpenFor must be above 0, got NaN"],
    [{ limits: [{ requests: 0, per: "1 second" }] }, "requests must be a whole number of at least 1, got 0"],
    [{ limits: [{ tokens: 1.5, per: "1 second" }] }, "tokens must be a whole number of at least 1, got 1.5"],
    [{ limits: [{ requests: 1, per: 0 }] }, "per must be a finite duration of at least 1 ms, got 0"],
    [{ limits: [{ requests: 1, per: Infinity }] }, "per must be a finite duration of at least 1 ms, got Infinity"],
    [{ limits: [{ requests: 1, per: "1e3 seconds" }] }, "per must be a finite duration of at least 1 ms, got 1e3"],
    [{ limits: [{ requests: 1, per: "1 second", maxWait: -1 }] }, "maxWait must be a duration of at least 0, got -1"],
    [{ adaptive: { window: Number.NaN } }, "window must be a finite duration of at least 1 ms, got NaN"],
    [{ adaptive: { maxWait: Number.NaN } }, "maxWait must be a duration of at least 0, got NaN"],
    [{ adaptive: { maxWait: "1e3 seconds" } }, "maxWait must be a duration of at least 0, got 1e3 seconds"]
  ]
  for (const [options, words] of senseless) {
    assert.throws(() => Resilience.make(options), RangeError, words && `Resilience: ${words}`)
  }
})
