import { assert, describe, it } from "@effect/vitest"
import { LlmError, type Model } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Cause, Clock, Context, Duration, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { played, service, usage, ways } from "../../_support/guard.ts"
import { calm, failsWith, finished, pass } from "../../_support/network.ts"
import { bothWays, failing, instant } from "./_support/guardedCalls.ts"

class Tenant extends Context.Reference<string>("test/Tenant", { defaultValue: () => "none" }) {}

describe("limits over many calls", () => {
  bothWays("per tenant and day, by what the caller provides [L803]", (modelCall) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        limits: [{ requests: 2, per: "1 day", by: () => Tenant, maxWait: 0, name: "daily" }]
      })
      const asked = (tenant: string) =>
        Effect.exit(modelCall.pipe(Effect.provide(guard(instant)), Effect.provideService(Tenant, tenant)))
      for (const tenant of ["ada", "ada", "bob"]) assert(Exit.isSuccess(yield* asked(tenant)))
      const error = failsWith(yield* asked("ada"), LlmError.RateLimitError)
      assert.deepStrictEqual(error.retryAfter, Duration.days(1))
      assert.strictEqual(error.service, "own limit: daily")
      assert.include(error.message, "the model was not called")
      assert.notInclude(JSON.stringify(error), "ada")
      assert(Exit.isSuccess(yield* asked("bob")))
      yield* TestClock.adjust("1 day")
      assert(Exit.isSuccess(yield* asked("ada")))
    })
  )

  bothWays(
    "counts the tokens that replies and failures report, input and output or the given measure [L803]",
    (modelCall) =>
      Effect.gen(function* () {
        const total = usage.inputTokens + usage.outputTokens
        const limits: ReadonlyArray<readonly [NonNullable<Resilience.Options["limits"]>[number], calls: number]> = [
          [{ tokens: 2 * total, per: "1 minute", maxWait: 0 }, 2],
          [{ tokens: 2 * total + 1, per: "1 minute", maxWait: 0 }, 3],
          [{ tokens: 2 * total, per: "1 minute", maxWait: 0, measure: ({ outputTokens }) => outputTokens }, 6]
        ]
        const costly = played(() => Effect.fail(new LlmError.ServerError({ model: "m", message: "!", usage })))
        for (const [limit, calls] of limits) {
          for (const model of [instant, costly]) {
            const guard = yield* Resilience.make({ limits: [limit] })
            for (let n = 0; n < calls; n++) yield* Effect.exit(Effect.provide(modelCall, guard(model)))
            const exit = yield* Effect.exit(Effect.provide(modelCall, guard(instant)))
            failsWith(exit, LlmError.RateLimitError)
          }
        }
      })
  )

  it.effect("a stream counts once: by its finish part, or as one token if it ends without one [L803]", () =>
    Effect.gen(function* () {
      const asked = (guard: Effect.Success<ReturnType<typeof Resilience.make>>, model: Model.Service) =>
        Effect.exit(Stream.runDrain(guard.model(model).stream({ messages: [], tools: [], toolChoice: "auto" })))
      const base = service(() => Effect.void)
      // the connection breaks after the end of the reply, and the error repeats the usage
      const late = new LlmError.ServerError({ model: "m", message: "!", usage })
      const broken = {
        ...base,
        stream: (request: Model.Request) => Stream.concat(base.stream(request), Stream.fail(late))
      }
      const counting = yield* Resilience.make({ limits: [{ tokens: 31, per: "1 minute", maxWait: 0 }] })
      for (let n = 0; n < 3; n++) failsWith(yield* asked(counting, broken), LlmError.ServerError)
      failsWith(yield* asked(counting, broken), LlmError.RateLimitError)
      const cutOff = service(() => Effect.void, { isCutOff: true })
      const sparing = yield* Resilience.make({ limits: [{ tokens: 2, per: "1 minute", maxWait: 0 }] })
      assert.deepStrictEqual(yield* asked(sparing, cutOff), Exit.void)
      assert.deepStrictEqual(yield* asked(sparing, cutOff), Exit.void)
      failsWith(yield* asked(sparing, cutOff), LlmError.RateLimitError)
    })
  )

  it.effect("what a reply took beyond the limit is missing afterwards [L803]", () =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ limits: [{ tokens: 5, per: "1 minute", maxWait: "10 minutes" }] })
      const asked = Effect.provide(ways.whole, guard(instant))
      yield* asked
      // 15 tokens are three minutes of five
      yield* finished(asked)
      assert.strictEqual(yield* Clock.currentTimeMillis, 180_000)
    })
  )

  bothWays("an interrupted wait ends at once, and takes nothing [L803]", (modelCall) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ limits: [{ requests: 1, per: "1 minute" }], concurrency: 5 })
      const asked = Effect.provide(modelCall, guard(instant))
      yield* asked
      const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(asked))
      yield* pass(1000)
      for (const fiber of waiting) {
        yield* Fiber.interrupt(fiber)
        const exit = yield* Fiber.await(fiber)
        assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      }
      yield* TestClock.adjust(59_000)
      yield* asked
      assert.strictEqual(yield* Clock.currentTimeMillis, 60_000)
    })
  )

  bothWays("several limits hold together, the first refusal counts [L803]", (modelCall) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        limits: [
          { requests: 3, per: "1 hour", maxWait: 0, by: "provider" },
          { requests: 1, per: "1 second", maxWait: "1 second" }
        ]
      })
      for (const at of [0, 1000, 2000]) {
        assert(Exit.isSuccess(yield* finished(Effect.provide(modelCall, guard(instant)))))
        assert.strictEqual(yield* Clock.currentTimeMillis, at)
      }
      const error = failsWith(yield* finished(Effect.provide(modelCall, guard(instant))), LlmError.RateLimitError)
      assert.strictEqual(error.service, "own limit: 3 requests per 1h")
    })
  )

  bothWays("learns from a refusal that says how long to wait: no call starts earlier [L803]", (modelCall) =>
    Effect.gen(function* () {
      const starts: Array<number> = []
      const limited = LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.seconds(20) })
      const model = failing(limited)
      const noting = played(() =>
        Effect.andThen(
          Effect.map(Clock.currentTimeMillis, (at) => starts.push(at)),
          model.act()
        )
      )
      const guard = yield* Resilience.make({ adaptive: true })
      failsWith(yield* Effect.exit(Effect.provide(modelCall, guard(noting))), LlmError.RateLimitError)
      yield* TestClock.adjust("5 seconds")
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.provide(modelCall, guard(noting))))
      yield* pass(14_999)
      assert.deepStrictEqual(starts, [0])
      yield* pass(1)
      for (const fiber of fibers) assert(Exit.isSuccess(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(starts, [0, 20_000, 20_000, 20_000])
      const hasty = yield* Resilience.make({ adaptive: { maxWait: "10 seconds" } })
      const refusing = failing(limited)
      yield* Effect.exit(Effect.provide(modelCall, hasty(refusing.layer)))
      const error = failsWith(
        yield* Effect.exit(Effect.provide(modelCall, hasty(refusing.layer))),
        LlmError.RateLimitError
      )
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(20))
      assert.strictEqual(refusing.state.calls, 1)
    })
  )

  bothWays("learns nothing unless it is told to [L803]", (modelCall) =>
    Effect.gen(function* () {
      const limited = failing(LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.seconds(20) }))
      const guard = yield* Resilience.make({})
      failsWith(yield* Effect.exit(Effect.provide(modelCall, guard(limited.layer))), LlmError.RateLimitError)
      const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(modelCall, guard(limited.layer))))
      yield* pass(0)
      assert.strictEqual(limited.state.calls, 2)
      yield* Fiber.join(fiber)
    })
  )

  bothWays("learns how many calls a server admits in how long, and starts no more [L803]", (modelCall) =>
    Effect.gen(function* () {
      const starts: Array<number> = []
      const refusals = new Map([
        [1, 10],
        [5, 20]
      ])
      const model = played(() =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          const seconds = refusals.get(starts.push(at / 1000))
          return seconds === undefined
            ? Effect.void
            : Effect.fail(LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.seconds(seconds) }))
        })
      )
      const guard = yield* Resilience.make({ adaptive: true })
      const four = Effect.forEach([1, 2, 3, 4], () => Effect.exit(Effect.provide(modelCall, guard(model))), {
        concurrency: "unbounded"
      })
      yield* Effect.exit(Effect.provide(modelCall, guard(model)))
      // after the wait the server refuses the fourth call: three in 20 seconds are what it admits
      yield* finished(four)
      yield* finished(four)
      assert.deepStrictEqual(starts, [0, 10, 10, 10, 10, 30, 30, 30, 50])
    })
  )

  bothWays("learns nothing from an overload, though it says how long to wait [L803]", (modelCall) =>
    Effect.gen(function* () {
      const model = failing(LlmError.ModelOverloadedError.make({ model: "m", retryAfter: Duration.seconds(20) }))
      const guard = yield* Resilience.make({ adaptive: { maxWait: 0 } })
      failsWith(yield* Effect.exit(Effect.provide(modelCall, guard(model.layer))), LlmError.ModelOverloadedError)
      yield* Effect.provide(modelCall, guard(model.layer))
    })
  )

  bothWays("bounds concurrent calls of a model; a call that leaves makes room", (modelCall) =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const busy = (name: string) =>
        played(
          () =>
            Effect.acquireUseRelease(
              Effect.sync(() => (most = Math.max(most, ++running))),
              () => Effect.sleep("1 second"),
              () => Effect.sync(() => running--)
            ),
          { name }
        )
      const guard = yield* Resilience.make({ concurrency: 2 })
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5], () =>
        Effect.forkChild(Effect.provide(modelCall, guard(busy("m"))))
      )
      yield* pass(500)
      const [first, , third] = fibers
      assert(first !== undefined && third !== undefined)
      yield* Fiber.interrupt(third)
      yield* Fiber.interrupt(first)
      yield* calm
      assert.strictEqual(running, 2)
      // another model has a queue of its own
      const other = yield* Effect.forkChild(Effect.provide(modelCall, guard(busy("other"))))
      yield* calm
      assert.strictEqual(running, 3)
      yield* pass(10_000)
      assert(Exit.isSuccess(yield* Fiber.await(other)))
      const ends = yield* Effect.forEach(fibers, (fiber) => Fiber.await(fiber))
      assert.deepStrictEqual(ends.map(Exit.isSuccess), [false, true, false, true, true])
      assert.strictEqual(most, 3)
    })
  )
})
