/** Guards within runs: what a run knows of a guarded model, and what its time means for the waits of a guard. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, RetryBudget, RunError, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Resilience } from "@kintsugi/providers"
import { Clock, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { eventLog, failureOf } from "../../_support/dialogue.ts"
import { asked, namedModel } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"
import { played } from "../../_support/guard.ts"
import { completion, fakeNetwork, openAi, respond } from "../../_support/network.ts"

const { fails, text } = ScriptedModel

const billed = fails(
  LlmError.ModelOverloadedError.make({ model: "m", usage: Usage.make({ inputTokens: 1000, outputTokens: 0 }) })
)

const layerOf = (model: Model.Service) => Layer.succeed(Model.Model, model)

const retrying = { ModelOverloadedError: Recovery.retry({ retries: 1 }) }

const everything: Resilience.Options = { breaker: {}, concurrency: 1, limits: [{ requests: 9, per: "1 minute" }] }

it.run("a guard around models in an order, or around a table, books every attempt under its model [L1009]", (run) =>
  Effect.gen(function* () {
    const order = Effect.gen(function* () {
      const [a, b] = [yield* namedModel("a", billed), yield* namedModel("b", text("hi"))]
      return (yield* Resilience.make(everything))(layerOf(Model.fallback(a.service, b.service)))
    })
    const table = Effect.gen(function* () {
      const b = yield* namedModel("b", billed, text("hi"))
      return (yield* Resilience.make(everything))(Model.onError(b.layer, retrying))
    })
    const nested = Effect.gen(function* () {
      const [a, b] = [yield* namedModel("a", billed, billed), yield* namedModel("b", billed, text("hi"))]
      const [inner, outer] = [yield* Resilience.make(everything), yield* Resilience.make(everything)]
      return outer(Model.onError(layerOf(inner.model(Model.fallback(a.service, b.service))), retrying))
    })
    const cases: ReadonlyArray<readonly [typeof order | typeof table | typeof nested, ReadonlyArray<string>]> = [
      [order, ["a failed 1000", "b used 10"]],
      [table, ["b failed 1000", "b used 10"]],
      [nested, ["a failed 1000", "b failed 1000", "a failed 1000", "b used 10"]]
    ]
    for (const [making, expected] of cases) {
      const log = eventLog()
      const agent = Agent.make("w", { model: yield* making }).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go"), "hi")
      const end = log.end()
      assert(end?.type === "run-completed")
      const entries = end.ledger.map(({ model, outcome, usage }) => `${model} ${outcome} ${usage.inputTokens}`)
      assert.deepStrictEqual(entries, [...expected])
      assert.strictEqual(log.all.filter(({ type }) => type === "model-start").length, expected.length)
    }
  })
)

it.run(
  "a guard around a fallback counts one outcome for all models, and refuses without calling any of them [L801]",
  (run) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ breaker: { failures: 1, openFor: "30 seconds" } })
      const [a, b] = [yield* namedModel("a", billed, billed), yield* namedModel("b", text("hi"), billed)]
      const agent = Agent.make("w", { model: guard(layerOf(Model.fallback(a.service, b.service))) })
      const state = Effect.map(guard.state("of a or of b/a or b"), ({ _tag }) => _tag)
      yield* run(agent, "go")
      assert.strictEqual(yield* state, "Closed")
      yield* Effect.flip(run(agent, "go"))
      assert.strictEqual(yield* state, "Open")
      const log = eventLog()
      const refused = yield* Effect.flip(run(agent.pipe(log.listen), "go"))
      assert.deepInclude(refused, { _tag: "ModelOverloadedError", retryAfter: Duration.seconds(30) })
      assert.deepStrictEqual([a.requests.length, b.requests.length], [2, 2])
      assert.deepInclude(log.end(), { type: "run-failed", ledger: [] })
    })
)

asked("a guarded order within an order is one place and one outcome, whole or for parts [L802]", (ask) =>
  Effect.gen(function* () {
    const guard = yield* Resilience.make({ concurrency: 1, breaker: { failures: 2 } })
    const a = yield* namedModel("a", billed, text("hi"), billed)
    const b = yield* namedModel("b", billed, billed)
    const c = yield* namedModel("c", text("hi"), text("hi"))
    const order = Model.fallback(guard.model(Model.fallback(a.service, b.service)), c.service)
    // A slot that is not released would block the next call.
    const models = yield* Effect.forEach([1, 2, 3], () => Effect.map(ask(order), ({ model }) => model))
    assert.deepStrictEqual(models, ["c", "a", "c"])
    // two failures, but not in a row
    assert.strictEqual((yield* guard.state("of a or of b/a or b"))._tag, "Closed")
  })
)

it.run("a wait for a limit that would pass the end of the run is not begun: the run ends at once [P704]", (run) =>
  Effect.gen(function* () {
    const limited = yield* Resilience.make({ limits: [{ requests: 1, per: "50 seconds" }] })
    const learning = yield* Resilience.make({ adaptive: true })
    const wait = LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.seconds(30) })
    let calls = 0
    const sick = played(() => (calls++ === 0 ? Effect.fail(wait) : Effect.void))
    const answer = Agent.onLlmError({ orElse: Recovery.respondWith("no table hears of it") })
    for (const model of [limited(played(() => Effect.void)), learning(sick)]) {
      const log = eventLog()
      const agent = Agent.make("w", { model, budget: { maxDuration: "10 seconds" } }).pipe(answer, log.listen)
      const start = yield* Clock.currentTimeMillis
      yield* run(agent, "go")
      const error = yield* failureOf(yield* Effect.exit(run(agent, "go")))
      assert.instanceOf(error, RunError.BudgetExceededError)
      assert.deepInclude(error, { reason: "maxDuration", agent: "w", limit: 10_000, spent: 10_000 })
      assert.strictEqual(yield* Clock.currentTimeMillis, start)
      const end = log.end()
      assert(end?.type === "run-failed")
      assert.deepStrictEqual(
        end.ledger.map(({ outcome }) => outcome),
        ["interrupted"]
      )
      assert.strictEqual(log.all.at(-2)?.type, "model-interrupted")
    }
  })
)

it.run(
  "a wait beyond the end of the run stops a fallback and the table of a model; a shorter wait passes [P704]",
  (run) =>
    Effect.gen(function* () {
      const guard = yield* Resilience.make({ limits: [{ requests: 1, per: "5 seconds" }] })
      const other = yield* namedModel("other")
      const own = (yield* namedModel("own", text("hi"), text("hi"))).service
      const table = { orElse: Recovery.respondWith({ content: [], finish: "stop", usage: Usage.empty } as const) }
      const order = Model.fallback(guard.model(own), other.service)
      const agent = (maxDuration: Duration.Input) =>
        Agent.make("w", { model: Model.onError(layerOf(order), table), budget: { maxDuration } })
      yield* run(agent("10 seconds"), "go")
      const start = yield* Clock.currentTimeMillis
      const error = yield* Effect.flip(run(agent("4 seconds"), "go"))
      assert.deepInclude(error, { reason: "maxDuration" })
      assert.strictEqual(yield* Clock.currentTimeMillis, start)
      const patient = yield* Effect.forkChild(run(agent("6 seconds"), "go"))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(patient), "hi")
      assert.strictEqual(other.requests.length, 0)
    })
)

it.run("the transport does not begin a wait that would pass the end of the run [P704]", (run) =>
  Effect.gen(function* () {
    const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve: 1 })
    const log = eventLog()
    const net = fakeNetwork([
      respond(503, "{}", { "retry-after": "30" }),
      respond(200, JSON.stringify(completion("ok")))
    ])
    const agent = Agent.make("w", { budget: { maxDuration: "10 seconds" } }).pipe(log.listen)
    const model = openAi({ retry: { budget } })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model), Effect.provide(net.layer)))
    assert.deepInclude(error, { reason: "maxDuration", spent: 10_000 })
    assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    assert.strictEqual(net.times().length, 1)
    const verdicts = log.of("verdict").map(({ gaveUp, layer, verdict }) => [layer, verdict, gaveUp])
    assert.deepStrictEqual(verdicts, [["transport", "retry", true]])
    assert.isTrue(yield* budget.withdraw)
  })
)
