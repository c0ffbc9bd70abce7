/** What `explain` knows of models that are made of others, against what they do. */
import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Resilience, Transport } from "@kintsugi/providers"
import { Duration, Effect, Layer } from "effect"
import { it } from "../../_support/run.ts"
import { eventLog, overADay } from "../../_support/dialogue.ts"
import { overloaded } from "../../_support/namedModels.ts"

/** A model that fails as long as it is asked, at once. */
const down = Effect.map(
  ScriptedModel.make(...Array.from({ length: 40 }, () => ScriptedModel.fails(overloaded()))),
  ({ layer }) => layer
)

const retrying = (retries: number) => Model.onError({ orElse: Recovery.retry<LlmError.LlmError>({ retries }) })

it.run("explain bounds the model calls of a composed model, and a failing model reaches the bound [L701]", (run) =>
  Effect.gen(function* () {
    const guard = yield* Resilience.make({ breaker: { failures: 99 } })
    // the scripts are longer than what is asked of them, and end with the test
    const made = Effect.gen(function* () {
      const [a, b, c] = [yield* down, yield* down, yield* down]
      const order = Model.fallback(a, b, c)
      return [
        [a, 1],
        [order, 3],
        [retrying(2)(a), 3],
        [retrying(1)(order), 6],
        [Model.fallback(retrying(1)(a), retrying(2)(b)), 5],
        [guard(retrying(1)(Model.fallback(a, guard(b)))), 4]
      ] as const
    })
    const counting = Effect.gen(function* () {
      for (const [model, calls] of yield* made) {
        for (const retries of [0, 1]) {
          const log = eventLog()
          const agent = Agent.make("w", { model, budget: { maxTurns: 1 } }).pipe(
            Agent.onLlmError({ orElse: Recovery.retry({ retries }) }),
            log.listen
          )
          assert.strictEqual((yield* overADay(run(agent, "go")))._tag, "Failure")
          const asked = log.all.filter(({ type }) => type === "model-start").length
          assert.strictEqual(asked, calls * (retries + 1))
          const transport = Transport.explain()
          assert.deepInclude(Agent.explain(agent).worst, { modelCalls: asked, requests: asked })
          assert.deepInclude(Agent.explain(agent, { transport }).worst, { modelCalls: asked, requests: 3 * asked })
          // an agent as a tool spends as much
          const tool = Agent.asTool(agent, { name: "ask", description: "Asks." })
          const outer = Agent.make("o", {
            budget: { maxTurns: 5, maxToolCalls: 1 },
            skills: [{ name: "s", description: "d", tools: [tool] }]
          })
          // which share five turns
          assert.strictEqual(Agent.explain(outer).worst.modelCalls, Math.min(5 + asked, 5 * asked))
          // a caller can explain the model of its context
          const explanation = yield* Effect.provide(Effect.map(Model.Model, Model.explain), model)
          assert.strictEqual(explanation.worst.requests, calls)
          const bare = Agent.make("w", { budget: { maxTurns: 1 } }).pipe(
            Agent.onLlmError({ orElse: Recovery.retry({ retries }) })
          )
          assert.strictEqual(Agent.explain(bare, { model: explanation }).worst.requests, asked)
          assert.strictEqual(Agent.explain(bare, { model: explanation, transport }).worst.requests, 3 * asked)
        }
      }
      return yield* Effect.fail("enough" as const)
    })
    // a script that is not played to its end is a defect of a test that succeeds
    assert.strictEqual(yield* Effect.flip(Effect.scoped(counting)), "enough")
  })
)

it.effect("Model.explain counts waits, transports and the model calls of compactions", () =>
  Effect.gen(function* () {
    const one = yield* Effect.scoped(Effect.map(ScriptedModel.make(), ({ layer }) => layer))
    const waiting = Model.onError(one, { orElse: Recovery.retry({ retries: 2, initialBackoff: "1 second" }) })
    const both = Model.explain(Model.fallback(waiting, one))
    assert.deepInclude(both.worst, { attempts: 4, requests: 4, waits: Duration.seconds(3) })
    assert.deepStrictEqual(
      both.rows.map(({ key }) => key),
      ["orElse"]
    )
    const transport = Transport.explain({ requestTimeout: "20 seconds" })
    const sent = Model.explain(Model.fallback(one, one), { transport })
    assert.deepInclude(sent.worst, { requests: 6, time: Duration.seconds(40) })
    // another layer around it tells nothing of what is within
    assert.strictEqual(Model.explain(Layer.fresh(waiting)).worst.requests, 1)

    const summariser = Agent.make("summariser", { budget: { maxTurns: 2 } })
    const short = Model.onError(one, { orElse: Recovery.compact(Compaction.summarise(summariser)) })
    // two summaries of two turns each
    assert.deepInclude(Model.explain(short).worst, { attempts: 3, modelCalls: 4 })
    const agent = Agent.make("w", { model: short, budget: { maxTurns: 1 } })
    // the summariser spends turns of the run
    assert.strictEqual(Agent.explain(agent).worst.modelCalls, 4)
    const errors = [LlmError.RateLimitError.make({ service: "s", retryAfter: Duration.seconds(7) })]
    const hinted = Model.onError(one, { RateLimitError: Recovery.retry({ retries: 1 }) })
    assert.deepInclude(Model.explain(hinted, { errors }).worst, { time: Duration.minutes(1) })
  })
)
