/** Retries by the advice that errors carry themselves, and what is kept of one for which a run has no time. */
import * as Factories from "@kintsugi/core/Factories"
import { assert } from "@effect/vitest"
import { Agent, Backoff, KintsugiError, Recovery, RunError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Schema } from "effect"
import { batch, done, failureOf, instantsOf, overADay, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

/** An error of the user's own, which says that it may be tried again, and no more. */
class Shaky extends Data.TaggedError("Shaky")<{ readonly isRetryable: boolean }> {}

const shaky = Effect.fail(new Shaky({ isRetryable: true }))
const json = Schema.toCodecJson(KintsugiError.KintsugiError)
const advised = Recovery.retry(Backoff.suggested())

it.run("is the same in a row by tag, in orElse and in ExecutionError [P1326]", (run) =>
  Effect.gen(function* () {
    for (const table of [{ Shaky: advised }, { orElse: advised }, { ExecutionError: advised }]) {
      const { runs, tool } = scripted("ping", shaky, shaky, shaky, Effect.succeed("pong"))
      const model = yield* ScriptedModel.make(batch("ping"), done)
      const agent = Agent.make("a", { tools: [tool.pipe(Tool.onError(table))] })
      yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      const [first = 0] = instantsOf(runs)
      assert.deepStrictEqual(
        instantsOf(runs).map((at) => at - first),
        [0, 1000, 2000, 3000]
      )
    }
  })
)

it.run("a wait that the run has no time for keeps the failure before it as the cause, and the trail [P1326]", (run) =>
  Effect.gen(function* () {
    const limit = Factories.apiRateLimit("https://example.org", "40 seconds")
    const budget = { maxDuration: "1 minute" } as const
    const { tool } = scripted("ping", Effect.fail(limit), Effect.fail(limit))
    const calling = Agent.make("a", { budget, tools: [tool.pipe(Tool.onError({ RateLimitError: advised }))] })
    const advisedAgent = Agent.make("a", { budget, onLlmError: { RateLimitError: advised } })
    const limited = ScriptedModel.fails(limit)
    for (const [agent, steps] of [
      [calling, [batch("ping")]],
      [advisedAgent, [limited, limited]]
    ] as const) {
      const model = yield* ScriptedModel.make(...steps)
      const running = run(Agent.seal(agent), "go").pipe(Effect.provide(model.layer))
      const error = yield* failureOf(yield* overADay(running as Effect.Effect<string, unknown>))
      assert(error instanceof RunError.BudgetExceededError)
      assert.strictEqual(error.cause, limit)
      assert.deepStrictEqual(
        error.trail?.map(({ gaveUp, tag }) => [tag, gaveUp]),
        [
          ["RateLimitError", false],
          ["RateLimitError", true]
        ]
      )
      const text = JSON.stringify(Schema.encodeSync(json)(error))
      const read = Schema.decodeUnknownSync(json)(JSON.parse(text))
      assert(read instanceof RunError.BudgetExceededError && read.cause instanceof Error)
      assert.deepInclude(read.cause, { name: "RateLimitError", message: limit.message })
    }
  })
)
