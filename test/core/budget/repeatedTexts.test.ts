/** A failure counts as repeated only if the model was told the same; `onBudgetExceeded` may decide about its repetition. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Recovery, RunError, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { batch, busy, done, eventLog, fixer, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

/** A tool that always fails with the same words, and is told with one of these after the other. */
const failingWith = (texts: ReadonlyArray<string>) => {
  let index = 0
  return scripted("fetch", ...texts.map(() => Effect.fail(busy("down")))).tool.pipe(
    Tool.onError({ Busy: Recovery.tell(() => texts[index++] ?? "") })
  )
}

const times = (count: number) => Array.from({ length: count }, () => batch("fetch"))

it.run("the call that follows the hints of a fixer is run, after many wrong ones [P1338]", (run) =>
  Effect.gen(function* () {
    const hints = [
      "there is no such column",
      "the table is another one",
      "join the two first",
      "quote the words",
      "sum it"
    ]
    const escalating = fixer(
      ...hints.map((hint) => Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: hint })))
    )
    const query = Tool.make("query", {
      description: "Asks.",
      parameters: Schema.Struct({ sql: Schema.String }),
      success: Schema.String,
      run: ({ sql }) => (sql === "right" ? Effect.succeed("found") : Effect.fail(busy("syntax error")))
    }).pipe(Tool.onError({ Busy: Recovery.fix(escalating.agent) }))
    const replies = [...hints, "right"].map((sql, index) =>
      calls(call("query", { sql: index < 5 ? "wrong" : sql }, "c1"))
    )
    const model = yield* make(...replies, done)
    yield* run(Agent.make("worker", { tools: [query] }), "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(read(model).at(-1), "result: found")
  })
)

it.run("texts that differ in words are not equal, and the model does not read that they are [P1338]", (run) =>
  Effect.gen(function* () {
    const texts = ["one", "two", "three", "four", "five", "six"]
    const model = yield* make(...times(6), done)
    yield* run(Agent.make("worker", { tools: [failingWith(texts)] }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model).slice(0, 2), ["told: one", "told: two"])
    for (const text of read(model)) assert.notInclude(text, "several times in a row")
  })
)

it.run("texts that differ in numbers, quotations and values of names are the same [P1338 P701]", (run) =>
  Effect.gen(function* () {
    const texts = ['row 1 of "a"', 'row 2 of "b"', "row 17 of 'c'", 'row 4 of "x y"', "row 5 of `z`"]
    const model = yield* make(...times(5))
    const agent = Agent.make("worker", {
      tools: [failingWith(texts)],
      budget: { repeatedFailures: { withhold: Infinity } }
    })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.reason, "repeatedFailure")
    const named = ["host=a down", "host=b down", "host=c down", "host=d down", "host=e down"]
    const other = yield* make(...times(5))
    const renamed = Agent.make("worker", {
      tools: [failingWith(named)],
      budget: { repeatedFailures: { withhold: Infinity } }
    })
    assert(
      (yield* Effect.flip(run(renamed, "go").pipe(Effect.provide(other.layer)))) instanceof RunError.BudgetExceededError
    )
  })
)

it.run("onBudgetExceeded is called, and the run goes on as far as it is extended [P1338]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const log = eventLog()
    const agent = Agent.make("worker", {
      tools: [failingWith(["no", "no", "no", "no", "no", "no"])],
      budget: { repeatedFailures: { hint: 2, withhold: Infinity, stop: 2 } }
    }).pipe(
      log.listen,
      Agent.onBudgetExceeded(({ limit, reason, spent }) => {
        asked.push([reason, limit, spent])
        return limit < 6 ? Budget.extend(limit + 2) : Budget.stop
      })
    )
    const model = yield* make(...times(6))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepStrictEqual(asked, [
      ["repeatedFailure", 2, 2],
      ["repeatedFailure", 4, 4],
      ["repeatedFailure", 6, 6]
    ])
    assert.deepStrictEqual(
      log.of("budget-exceeded").map(({ action, limit, reason }) => [reason, limit, action]),
      [
        ["repeatedFailure", 2, "extend"],
        ["repeatedFailure", 4, "extend"],
        ["repeatedFailure", 6, "stop"]
      ]
    )
  })
)

it.effect("a run that is suspended at the limit resumes, and onBudgetExceeded is called anew [P1338]", () =>
  Effect.gen(function* () {
    const limits: Array<number> = []
    const agent = Agent.make("worker", {
      tools: [failingWith(["no", "no", "no"])],
      budget: { repeatedFailures: { stop: 2 } }
    }).pipe(
      Agent.onBudgetExceeded(({ limit }) => {
        limits.push(limit)
        return limits.length === 1 ? Budget.checkpoint : Budget.extend(limit + 5)
      })
    )
    const model = yield* make(...times(3), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), { from }, model), { _tag: "Completed" })
    assert.deepStrictEqual(limits, [2, 2])
  })
)
