import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, type Model, Recovery } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Cause, Clock, Context, Duration, Effect, Exit, Fiber, Layer, Schedule, type Scope, Stream } from "effect"
import { CircuitBreaker, RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import { runners } from "../../_support/run.ts"
import { overload, played, refusal, service, usage, ways } from "../../_support/guard.ts"
import { calm, failsWith, failureOf, finished, pass } from "../../_support/network.ts"

/** One test for whole calls and one for streamed ones. */
const bothWays = (
  title: string,
  check: (asking: (typeof ways)["whole"]) => Effect.Effect<unknown, unknown, Scope.Scope>
): void => {
  for (const [way, asking] of Object.entries(ways)) it.effect(`${title} (${way})`, () => check(asking))
}

/** A model that fails with these, one call each, and replies afterwards; `calls` counts. */
const failing = (...errors: ReadonlyArray<LlmError.LlmError>) => {
  const state = { calls: 0 }
  const act = () =>
    Effect.suspend((): Effect.Effect<void, LlmError.LlmError> => {
      const error = errors[state.calls++]
      return error === undefined ? Effect.void : Effect.fail(error)
    })
  return { state, act, layer: played(act) }
}

/** The error of a call that an open circuit refused. */
const refused = (exit: Exit.Exit<unknown, unknown>): LlmError.ModelOverloadedError => {
  const error = failureOf(exit)
  assert(error instanceof LlmError.ModelOverloadedError)
  assert.match(error.detail ?? "", /the model was not called|it was not called again/)
  return error
}

describe("circuit", () => {
  for (const [way, run] of Object.entries(runners)) {
    it.effect(`a shared breaker skips a sick model without calling it, whoever asks (${way}) [P1004]`, () =>
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

  bothWays("circuits are apart by provider and name, or as they are told [P1004]", (asking) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ breaker: { failures: 1 } })
      const byProvider = yield* Resilience.make({ breaker: { failures: 1, by: "provider" } })
      const sick = () => Effect.fail(overload)
      const well = () => Effect.void
      yield* Effect.exit(Effect.provide(asking, guard(played(sick))))
      yield* Effect.provide(asking, guard(played(well, { name: "other" })))
      yield* Effect.provide(asking, guard(played(well, { provider: "other" })))
      refused(yield* Effect.exit(Effect.provide(asking, guard(played(well)))))
      yield* Effect.exit(Effect.provide(asking, byProvider(played(sick))))
      refused(yield* Effect.exit(Effect.provide(asking, byProvider(played(well, { name: "other" })))))
    })
  )

  const from = { retryAfter: Duration.minutes(2) }
  const errors: ReadonlyArray<readonly [LlmError.LlmError, openFor: number | undefined]> = [
    [overload, 30],
    [LlmError.ModelOverloadedError.modelOverloaded("m", from), 120],
    [LlmError.ServerError.serverError("m"), 30],
    [LlmError.NetworkError.connectionRefused("h", 1), 30],
    [LlmError.RequestTimeoutError.llmTimeout("1 minute"), 30],
    [LlmError.RateLimitError.limited("s", from), 120],
    [LlmError.RateLimitError.limited("s", { retryAfter: Duration.days(1) }), 3600],
    [LlmError.QuotaExhaustedError.llmQuotaExceeded("m"), 30],
    [refusal, undefined],
    [LlmError.AuthenticationError.authenticationFailed("m", "no"), undefined],
    [LlmError.ModelNotFoundError.modelNotFound("m"), undefined],
    [LlmError.ContentFilteredError.contentFiltered("m", "no"), undefined],
    [LlmError.ContextTooLongError.contextTooLong("m"), undefined],
    [LlmError.MalformedToolCallError.malformedToolCall("m", "t", "no"), undefined],
    [LlmError.CapabilityMismatchError.visionNotSupported("m", "p"), undefined],
    [LlmError.UnknownLlmError.unknown("m", "?"), undefined]
  ]
  bothWays(
    "failures of the service count, with the wait that they ask for; those of a request do not [L801]",
    (asking) =>
      Effect.gen(function* () {
        for (const [error, openFor] of errors) {
          const guard = yield* Resilience.make({ breaker: { failures: 1 } })
          const exit = yield* Effect.exit(Effect.provide(asking, guard(played(() => Effect.fail(error)))))
          assert.strictEqual(failureOf(exit), error)
          const state = yield* guard.state("p/m")
          const seen = state._tag === "Open" ? Duration.toSeconds(state.retryAfter) : undefined
          assert.strictEqual(seen, openFor, error._tag)
        }
      })
  )

  it.effect("a caller may say what counts, and for how long it opens, longer each time [L801]", () =>
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
      const open = service(() => Effect.void)
      const lingering = {
        ...open,
        stream: (request: Model.Request) => Stream.concat(open.stream(request), Stream.never)
      }
      yield* Stream.runDrain(Stream.takeUntil(asked(lingering), ({ type }) => type === "finish"))
      assert.strictEqual(yield* tag, "Closed")
      // a stream that ends without its finish is a failure
      yield* Stream.runDrain(asked(service(() => Effect.void, { isCutOff: true })))
      assert.strictEqual(yield* tag, "Open")
    })
  )

  bothWays("while one call tries the model, others are refused, before they wait for a limit [L801 P1004]", (asking) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        breaker: { failures: 1, openFor: "1 second" },
        limits: [{ requests: 2, per: "1 day", maxWait: 0 }]
      })
      yield* Effect.exit(Effect.provide(asking, guard(played(() => Effect.fail(overload)))))
      for (let n = 0; n < 5; n++) refused(yield* Effect.exit(Effect.provide(asking, guard(played(() => Effect.void)))))
      yield* TestClock.adjust("1 second")
      const probe = yield* Effect.forkChild(Effect.provide(asking, guard(played(() => Effect.sleep("1 second")))))
      yield* calm
      assert.isUndefined(
        refused(yield* Effect.exit(Effect.provide(asking, guard(played(() => Effect.void))))).retryAfter
      )
      yield* pass(1000)
      assert(Exit.isSuccess(yield* Fiber.await(probe)))
      // an own limit that is used up says nothing of the model
      failsWith(yield* Effect.exit(Effect.provide(asking, guard(played(() => Effect.void)))), LlmError.RateLimitError)
      assert.strictEqual((yield* guard.state("p/m"))._tag, "Closed")
    })
  )

  it.effect("tells what its circuits do [L801]", () =>
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

class Tenant extends Context.Reference<string>("test/Tenant", { defaultValue: () => "nobody" }) {}

const instant = played(() => Effect.void)

describe("limits over many calls", () => {
  bothWays("per tenant and day, by what the caller provides [L803]", (asking) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        limits: [{ requests: 2, per: "1 day", by: () => Tenant, maxWait: 0, name: "daily" }]
      })
      const asked = (tenant: string) =>
        Effect.exit(asking.pipe(Effect.provide(guard(instant)), Effect.provideService(Tenant, tenant)))
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

  bothWays("counts the tokens that replies and failures report, input and output or what it is told [L803]", (asking) =>
    Effect.gen(function* () {
      const total = usage.inputTokens + usage.outputTokens
      const limits: ReadonlyArray<readonly [Resilience.Limit, calls: number]> = [
        [{ tokens: 2 * total, per: "1 minute", maxWait: 0 }, 2],
        [{ tokens: 2 * total + 1, per: "1 minute", maxWait: 0 }, 3],
        [{ tokens: 2 * total, per: "1 minute", maxWait: 0, measure: ({ outputTokens }) => outputTokens }, 6]
      ]
      const costly = played(() => Effect.fail(new LlmError.ServerError({ model: "m", message: "!", usage })))
      for (const [limit, calls] of limits) {
        for (const model of [instant, costly]) {
          const guard = yield* Resilience.make({ limits: [limit] })
          for (let n = 0; n < calls; n++) yield* Effect.exit(Effect.provide(asking, guard(model)))
          const exit = yield* Effect.exit(Effect.provide(asking, guard(instant)))
          failsWith(exit, LlmError.RateLimitError)
        }
      }
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

  bothWays("an interrupted wait ends at once, and takes nothing [L803]", (asking) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ limits: [{ requests: 1, per: "1 minute" }], concurrency: 5 })
      const asked = Effect.provide(asking, guard(instant))
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

  bothWays("several limits hold together, the first refusal counts [L803]", (asking) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({
        limits: [
          { requests: 3, per: "1 hour", maxWait: 0, by: "provider" },
          { requests: 1, per: "1 second", maxWait: "1 second" }
        ]
      })
      for (const at of [0, 1000, 2000]) {
        assert(Exit.isSuccess(yield* finished(Effect.provide(asking, guard(instant)))))
        assert.strictEqual(yield* Clock.currentTimeMillis, at)
      }
      const error = failsWith(yield* finished(Effect.provide(asking, guard(instant))), LlmError.RateLimitError)
      assert.strictEqual(error.service, "own limit: 3 requests per 1h")
    })
  )

  bothWays("learns from a refusal that says how long to wait: nobody calls before [L803]", (asking) =>
    Effect.gen(function* () {
      const starts: Array<number> = []
      const limited = LlmError.RateLimitError.limited("s", { retryAfter: Duration.seconds(20) })
      const model = failing(limited)
      const noting = played(() =>
        Effect.andThen(
          Effect.map(Clock.currentTimeMillis, (at) => starts.push(at)),
          model.act()
        )
      )
      const guard = yield* Resilience.make({ adaptive: true })
      failsWith(yield* Effect.exit(Effect.provide(asking, guard(noting))), LlmError.RateLimitError)
      yield* TestClock.adjust("5 seconds")
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.provide(asking, guard(noting))))
      yield* pass(14_999)
      assert.deepStrictEqual(starts, [0])
      yield* pass(1)
      for (const fiber of fibers) assert(Exit.isSuccess(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(starts, [0, 20_000, 20_000, 20_000])
      const hasty = yield* Resilience.make({ adaptive: { maxWait: "10 seconds" } })
      const again = failing(limited)
      yield* Effect.exit(Effect.provide(asking, hasty(again.layer)))
      const error = failsWith(yield* Effect.exit(Effect.provide(asking, hasty(again.layer))), LlmError.RateLimitError)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(20))
      assert.strictEqual(again.state.calls, 1)
    })
  )

  bothWays("runs so many calls of a model at once; whoever leaves makes room", (asking) =>
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
        Effect.forkChild(Effect.provide(asking, guard(busy("m"))))
      )
      yield* pass(500)
      const [first, , third] = fibers
      assert(first !== undefined && third !== undefined)
      yield* Fiber.interrupt(third)
      yield* Fiber.interrupt(first)
      yield* calm
      assert.strictEqual(running, 2)
      // another model has a queue of its own
      const other = yield* Effect.forkChild(Effect.provide(asking, guard(busy("other"))))
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

describe("stores", () => {
  bothWays("those of the context are shared between guards", (asking) =>
    Effect.gen(function* () {
      const options: Resilience.Options = {
        breaker: { failures: 1 },
        limits: [{ requests: 2, per: "1 hour", maxWait: 0 }]
      }
      const [one, other] = yield* Effect.all([Resilience.make(options), Resilience.make(options)])
      yield* Effect.provide(asking, one(instant))
      yield* Effect.provide(asking, other(instant))
      failsWith(yield* Effect.exit(Effect.provide(asking, one(instant))), LlmError.RateLimitError)
      yield* Effect.exit(Effect.provide(asking, one(played(() => Effect.fail(overload), { name: "sick" }))))
      refused(yield* Effect.exit(Effect.provide(asking, other(played(() => Effect.void, { name: "sick" })))))
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
    bothWays(`without its store ${what} lets calls through, unless it is told to fail them`, (asking) =>
      Effect.gen(function* () {
        const lenient = yield* Resilience.make(options)
        for (let n = 0; n < 3; n++) yield* Effect.provide(asking, lenient(instant))
        const model = failing()
        const strict = yield* Resilience.make({ ...options, onStoreError: "fail" })
        const error = failsWith(
          yield* Effect.exit(Effect.provide(asking, strict(model.layer))),
          LlmError.UnknownLlmError
        )
        assert.include(error.message, "no store")
        assert.strictEqual(model.state.calls, 0)
      }).pipe(Effect.provide(broken))
    )
  }
})

it("refuses senseless options when it is made", () => {
  const senseless: ReadonlyArray<Resilience.Options> = [
    { concurrency: 0 },
    { concurrency: 1.5 },
    { breaker: { failures: 0 } },
    { breaker: { failures: 1, rate: {} } },
    { breaker: { rate: { threshold: 2 } } },
    { breaker: { openFor: 0 } },
    { breaker: { maxOpenFor: Number.NaN } },
    { limits: [{ requests: 0, per: "1 second" }] },
    { limits: [{ tokens: 1.5, per: "1 second" }] },
    { limits: [{ requests: 1, per: 0 }] },
    { limits: [{ requests: 1, per: Infinity }] },
    { limits: [{ requests: 1, per: "1 second", maxWait: -1 }] },
    { adaptive: { window: Number.NaN } },
    { adaptive: { maxWait: Number.NaN } }
  ]
  for (const options of senseless) assert.throws(() => Resilience.make(options), RangeError)
})
