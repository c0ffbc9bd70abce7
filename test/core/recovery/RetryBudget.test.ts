/** What runs take from a retry budget that they share: one for each retry that is made, and nothing besides. */
import { assert } from "@effect/vitest"
import { Agent, Backoff, Recovery, RetryBudget, RunError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Schedule, Schema } from "effect"
import { Latest } from "../../../packages/core/src/recovery/RetryBudget.ts"
import { it } from "../../_support/run.ts"
import { agentWith, batch, type Busy, busy, done, failureOf, overADay, play } from "../../_support/dialogue.ts"
import { overloaded } from "../../_support/namedModels.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { fails, make } = ScriptedModel

/** So many retries, and no more. */
const holding = (reserve: number) => {
  const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve, window: "365 days" })
  const left = Effect.gen(function* () {
    let count = 0
    while (yield* budget.withdraw) count++
    return count
  })
  return { budget, left }
}

it.run("a retry that the run has no time for takes nothing from a shared budget [P704 L806]", (run) =>
  Effect.gen(function* () {
    for (const where of ["model", "tool"] as const) {
      const { budget, left } = holding(2)
      const waits = Backoff.make({ retries: 3, initialBackoff: "6 seconds", factor: 1 })
      const table = { orElse: Recovery.retry(RetryBudget.sharing(waits, budget)) }
      const { runs, tool } = play("fetch", {}, [Effect.fail(busy()), Effect.fail(busy())])
      const model = yield* where === "model" ? make(fails(overloaded()), fails(overloaded())) : make(batch("fetch"))
      const agent = agentWith(tool.pipe(Tool.onError(table))).pipe(
        Agent.withBudget({ maxDuration: "10 seconds" }),
        Agent.onLlmError(table)
      )
      const start = yield* Clock.currentTimeMillis
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      const error = yield* failureOf(exit)
      assert.instanceOf(error, RunError.BudgetExceededError)
      assert.strictEqual(error.reason, "maxDuration")
      assert.deepStrictEqual([model.requests.length, runs.length], where === "model" ? [2, 0] : [1, 2])
      // the first wait fits in, the second does not
      assert.strictEqual(yield* left, 1)
      assert.isAtLeast(yield* Clock.currentTimeMillis, start)
    }
  })
)

it.effect("a call that resumes after a suspension does not pay twice for its earlier retries [L806]", () =>
  Effect.gen(function* () {
    const { budget, left } = holding(4)
    const paid: Array<number> = []
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: ({ cents }) => Effect.suspend(() => (paid.push(cents) < 4 ? Effect.fail(busy()) : Effect.succeed("paid")))
    })
    const retry = Recovery.retry<Busy, unknown, never, never>(RetryBudget.sharing(Backoff.make({ retries: 3 }), budget))
    const other = Recovery.fix((_raw: string) => Effect.succeed(`{"cents":7}`))
    // other arguments have to be approved of anew
    const tool = pay.pipe(
      Tool.requireApproval({ validFor: "7 days" }),
      Tool.onError({ Busy: Recovery.when((_error, { attempt }) => (attempt === 2 ? other : retry)) })
    )
    const model = yield* make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }, "c1")), done)
    const agent = agentWith(tool)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(first), model))
    assert.deepStrictEqual(paid, [5, 5])
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(second), model)
    assert.deepInclude(outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(paid, [5, 5, 7, 7])
    assert.strictEqual(yield* left, 2)
  })
)

it("options that no budget can have are refused by name [L806]", () => {
  for (const [options, rule] of [
    [{ window: 0 }, "window must be a finite duration of at least 1 ms, got 0"],
    [{ window: Infinity }, "window must be a finite duration of at least 1 ms, got Infinity"],
    [{ window: Number.NaN }, "window must be a finite duration of at least 1 ms, got NaN"],
    // as a program without types does
    [{ window: "soon" as "1 second" }, "window must be a finite duration of at least 1 ms, got soon"],
    [{ ratio: -1 }, "ratio must be a finite number of at least 0, got -1"],
    [{ ratio: Infinity }, "ratio must be a finite number of at least 0, got Infinity"],
    [{ reserve: -1 }, "reserve must be a finite number of at least 0, got -1"]
  ] as const)
    for (const make of [RetryBudget.make, RetryBudget.makeUnsafe])
      assert.throws(() => make(options), RangeError, `RetryBudget: ${rule}`)
})

it.effect("a retry at the last instant takes from the budget, and one after it does not [P704 L806]", () =>
  Effect.gen(function* () {
    for (const [latest, taken] of [
      [1000, 1],
      [999, 0],
      [Infinity, 1]
    ] as const) {
      let withdrawn = 0
      const budget: RetryBudget.RetryBudget = {
        deposit: Effect.void,
        withdraw: Effect.sync(() => (withdrawn++, true))
      }
      const now = yield* Clock.currentTimeMillis
      const schedule = RetryBudget.sharing(Schedule.spaced("1 second"), budget)
      const step = yield* Schedule.toStep(schedule)
      yield* step(now, undefined).pipe(Effect.provideService(Latest, now + latest))
      assert.strictEqual(withdrawn, taken)
    }
  })
)
