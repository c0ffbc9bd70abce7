import * as Factories from "@kintsugi/core/Factories"
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, type Model, Recovery } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { runners } from "../../_support/run.ts"
import { overload, played, refusal, service, ways } from "../../_support/guard.ts"
import { calm, failsWith, failureOf, finished, pass } from "../../_support/network.ts"
import { bothWays, failing, refused } from "./_support/guardedCalls.ts"

describe("circuit", () => {
  for (const [way, run] of Object.entries(runners)) {
    it.effect(`a shared breaker skips a failing model without calling it, for every agent (${way}) [P1004]`, () =>
      Effect.gen(function* () {
        const guard = yield* Resilience.make({ breaker: { failures: 2, openFor: "30 seconds" } })
        const model = failing(overload, overload)
        // each agent builds a layer of its own
        const asked = (name: string) =>
          run(Agent.make(name, {}), "go").pipe(Effect.provide(guard(Layer.fresh(model.layer))), Effect.exit)
        for (const name of ["one", "two"]) {
          const own = failureOf(yield* asked(name))
          assert(own instanceof LlmError.ModelOverloadedError)
          // a text that was shown by then comes along
          assert.strictEqual(own.message, overload.message)
        }
        yield* TestClock.adjust("10 seconds")
        const error = refused(yield* asked("three"))
        assert.strictEqual(model.state.calls, 2)
        assert.deepStrictEqual(error.retryAfter, Duration.seconds(20))
        assert.strictEqual(error.provider, "p")
        assert.isTrue(error.isRetryable)
        // a row may wait for as long as the circuit says: then a call tries the model, and closes the circuit
        const patient = Agent.make("four", {}).pipe(
          Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) })
        )
        const exit = yield* finished(run(patient, "go").pipe(Effect.provide(guard(model.layer))))
        assert(Exit.isSuccess(exit))
        assert.strictEqual(model.state.calls, 3)
        assert.strictEqual(yield* Clock.currentTimeMillis, 30_000)
        assert.strictEqual((yield* guard.state("p/m"))._tag, "Closed")
      })
    )
  }

  bothWays(
    "one call alone tries the model of a circuit that is half open; others are refused without a wait [L801]",
    (modelCall) =>
      Effect.gen(function* () {
        const guard = yield* Resilience.make({ breaker: { failures: 1, openFor: "1 second" } })
        yield* Effect.exit(Effect.provide(modelCall, guard(played(() => Effect.fail(overload)))))
        yield* TestClock.adjust("1 second")
        const first = yield* Effect.forkChild(Effect.provide(modelCall, guard(played(() => Effect.sleep("1 second")))))
        yield* calm
        const model = failing()
        const error = failsWith(
          yield* Effect.exit(Effect.provide(modelCall, guard(model.layer))),
          LlmError.ModelOverloadedError
        )
        assert.deepStrictEqual(
          [error.model, error.provider, error.retryAfter, error.detail],
          ["m", "p", undefined, "the circuit is half open: another call tries the model, it was not called again"]
        )
        assert.strictEqual(model.state.calls, 0)
        yield* pass(1000)
        assert(Exit.isSuccess(yield* Fiber.await(first)))
        assert.strictEqual((yield* guard.state("p/m"))._tag, "Closed")
      })
  )

  bothWays("circuits are separate by provider and name, or by the option [P1004]", (modelCall) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ breaker: { failures: 1 } })
      const byProvider = yield* Resilience.make({ breaker: { failures: 1, by: "provider" } })
      const sick = () => Effect.fail(overload)
      const well = () => Effect.void
      yield* Effect.exit(Effect.provide(modelCall, guard(played(sick))))
      yield* Effect.provide(modelCall, guard(played(well, { name: "other" })))
      yield* Effect.provide(modelCall, guard(played(well, { provider: "other" })))
      refused(yield* Effect.exit(Effect.provide(modelCall, guard(played(well)))))
      yield* Effect.exit(Effect.provide(modelCall, byProvider(played(sick))))
      refused(yield* Effect.exit(Effect.provide(modelCall, byProvider(played(well, { name: "other" })))))
    })
  )

  const from = { retryAfter: Duration.minutes(2) }
  const errors: ReadonlyArray<readonly [LlmError.LlmError, openFor: number | undefined]> = [
    [overload, 30],
    [LlmError.ModelOverloadedError.make({ model: "m", ...from }), 120],
    [LlmError.ServerError.make({ model: "m" }), 30],
    [Factories.connectionRefused("h", 1), 30],
    [Factories.llmTimeout("1 minute"), 30],
    [LlmError.RateLimitError.make({ service: "s", ...from }), 120],
    [LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.days(1) }), 3600],
    [LlmError.QuotaExhaustedError.make({ model: "m" }), 30],
    [refusal, undefined],
    [LlmError.AuthenticationError.make({ model: "m", detail: "no" }), undefined],
    [LlmError.ModelNotFoundError.make({ model: "m" }), undefined],
    [LlmError.ContentFilteredError.make({ model: "m", detail: "no" }), undefined],
    [LlmError.ContextTooLongError.make({ model: "m" }), undefined],
    [LlmError.MalformedToolCallError.make({ model: "m", tool: "t", detail: "no" }), undefined],
    [LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "vision" }), undefined],
    [LlmError.UnknownLlmError.make({ model: "m", cause: "?" }), undefined]
  ]
  bothWays(
    "failures of the service count, with the wait that they ask for; those of a request do not [L801]",
    (modelCall) =>
      Effect.gen(function* () {
        for (const [error, openFor] of errors) {
          const guard = yield* Resilience.make({ breaker: { failures: 1 } })
          const exit = yield* Effect.exit(Effect.provide(modelCall, guard(played(() => Effect.fail(error)))))
          assert.strictEqual(failureOf(exit), error)
          const state = yield* guard.state("p/m")
          const seen = state._tag === "Open" ? Duration.toSeconds(state.retryAfter) : undefined
          assert.strictEqual(seen, openFor, error._tag)
        }
        const brief = yield* Resilience.make({ breaker: { failures: 1, maxOpenFor: "10 minutes" } })
        const limited = LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.days(1) })
        yield* Effect.exit(Effect.provide(modelCall, brief(played(() => Effect.fail(limited)))))
        const state = yield* brief.state("p/m")
        assert.deepStrictEqual(state._tag === "Open" ? state.retryAfter : undefined, Duration.minutes(10))
      })
  )

  it.effect("a caller may define what counts, and for how long the circuit opens, longer each time [L801]", () =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        breaker: {
          rate: { threshold: 0.5, size: 4, minimumCalls: 2 },
          counts: ({ _tag }) => _tag === "InvalidRequestError",
          openFor: Schedule.exponential("1 second")
        }
      })
      const model = failing(overload, refusal, refusal, refusal, refusal)
      const asked = Effect.exit(Effect.provide(ways.whole, guard(model.layer)))
      // the overload does not count, the first refusal is one call of the two that are needed
      yield* asked
      yield* asked
      yield* asked
      assert.deepStrictEqual(refused(yield* asked).retryAfter, Duration.seconds(1))
      yield* TestClock.adjust("1 second")
      yield* asked
      assert.deepStrictEqual(refused(yield* asked).retryAfter, Duration.seconds(2))
      assert.strictEqual(model.state.calls, 4)
    })
  )

  it.effect("a call that waited while the circuit opened is refused by it, without calling the model [P1004]", () =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ breaker: { failures: 1, openFor: "30 seconds" }, concurrency: 1 })
      const model = failing(overload)
      const slow = played(() => Effect.andThen(Effect.sleep("1 second"), Effect.fail(overload)))
      const first = yield* Effect.forkChild(Effect.provide(ways.whole, guard(slow)))
      yield* calm
      const second = yield* Effect.forkChild(Effect.provide(ways.whole, guard(model.layer)))
      yield* pass(1000)
      failsWith(yield* Fiber.await(first), LlmError.ModelOverloadedError)
      const error = refused(yield* Fiber.await(second))
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(30))
      assert.strictEqual(model.state.calls, 0)
    })
  )

  it.effect("a stream is one outcome, at its end: not at its first part, and not when its reader leaves [L802]", () =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ breaker: { failures: 1, openFor: "1 second" } })
      const asked = (model: Model.Service) => guard.model(model).stream({ messages: [], tools: [], toolChoice: "auto" })
      const tag = Effect.map(guard.state("p/m"), ({ _tag }) => _tag)
      // the first word came, the end did not: nothing is decided
      const slow = yield* Effect.forkChild(
        Stream.runDrain(asked(service(() => Effect.andThen(Effect.sleep("1 minute"), Effect.fail(overload)))))
      )
      yield* pass(30_000)
      assert.strictEqual(yield* tag, "Closed")
      yield* pass(30_000)
      assert.strictEqual(yield* tag, "Open")
      failsWith(yield* Fiber.await(slow), LlmError.ModelOverloadedError)
      // the one that may try: its reader leaves, so the next one may
      yield* pass(1000)
      yield* Stream.runHead(asked(service(() => Effect.void)))
      yield* calm
      assert.deepInclude(yield* guard.state("p/m"), { _tag: "HalfOpen", probing: false })
      // the finish is the end, though the stream stays open
      const base = service(() => Effect.void)
      const lingering = {
        ...base,
        stream: (request: Model.Request) => Stream.concat(base.stream(request), Stream.never)
      }
      yield* Stream.runDrain(Stream.takeUntil(asked(lingering), ({ type }) => type === "finish"))
      assert.strictEqual(yield* tag, "Closed")
      // a stream that ends without its finish is a failure
      yield* Stream.runDrain(asked(service(() => Effect.void, { isCutOff: true })))
      assert.strictEqual(yield* tag, "Open")
    })
  )

  bothWays(
    "while one call tries the model, others are refused, before they wait for a limit [L801 P1004]",
    (modelCall) =>
      Effect.gen(function* () {
        const guard = yield* Resilience.make({
          breaker: { failures: 1, openFor: "1 second" },
          limits: [{ requests: 2, per: "1 day", maxWait: 0 }]
        })
        yield* Effect.exit(Effect.provide(modelCall, guard(played(() => Effect.fail(overload)))))
        for (let n = 0; n < 5; n++)
          refused(yield* Effect.exit(Effect.provide(modelCall, guard(played(() => Effect.void)))))
        yield* TestClock.adjust("1 second")
        const probe = yield* Effect.forkChild(Effect.provide(modelCall, guard(played(() => Effect.sleep("1 second")))))
        yield* calm
        assert.isUndefined(
          refused(yield* Effect.exit(Effect.provide(modelCall, guard(played(() => Effect.void))))).retryAfter
        )
        yield* pass(1000)
        assert(Exit.isSuccess(yield* Fiber.await(probe)))
        // an own limit that is used up says nothing of the model
        failsWith(
          yield* Effect.exit(Effect.provide(modelCall, guard(played(() => Effect.void)))),
          LlmError.RateLimitError
        )
        assert.strictEqual((yield* guard.state("p/m"))._tag, "Closed")
      })
  )

  it.effect("streams the changes of its circuits [L801]", () =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ breaker: { failures: 1, openFor: "1 second" } })
      const seen = yield* Effect.forkChild(Stream.runCollect(Stream.take(guard.transitions, 3)))
      yield* calm
      const model = failing(overload)
      yield* Effect.exit(Effect.provide(ways.whole, guard(model.layer)))
      yield* TestClock.adjust("1 second")
      yield* Effect.provide(ways.whole, guard(model.layer))
      const moves = (yield* Fiber.join(seen)).map(({ from, to }) => `${from} ${to}`)
      assert.deepStrictEqual(moves, ["Closed Open", "Open HalfOpen", "HalfOpen Closed"])
      const none = yield* Resilience.make({})
      assert.deepStrictEqual(yield* none.state("p/m"), { _tag: "Closed", key: "p/m" })
      assert.deepStrictEqual(yield* Stream.runCollect(none.transitions), [])
    })
  )
})
