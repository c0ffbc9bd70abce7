/** What a check may answer, and which failures of it are no block. */
import { assert } from "@effect/vitest"
import { Agent, RunError, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { reading } from "./_support/guarded.ts"

const { make, replies, reply, text } = ScriptedModel
const { block, pass, replace } = Agent.guard

const errorOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

it.run("a check that answers no verdict blocks, with what it has answered [P1596]", (run) =>
  Effect.gen(function* () {
    const endOf = (verdict: unknown) =>
      Effect.gen(function* () {
        // as a program without types does
        const check = () => verdict as typeof pass
        const agent = Agent.make("clerk", {}).pipe(Agent.guardOutput(check, { name: "odd" }))
        const model = yield* make(text("fine"))
        const { exit } = yield* reading(run(agent, "hi"), model.layer)
        const error = errorOf(exit)
        return Exit.isSuccess(exit) ? exit.value : error instanceof RunError.GuardrailError ? error.reason : error
      })
    assert.strictEqual(yield* endOf(pass), "fine")
    assert.strictEqual(yield* endOf(Effect.succeed(pass)), "fine")
    assert.strictEqual(yield* endOf(block("no")), "no")
    assert.strictEqual(yield* endOf(replace("good")), "good")
    const wrong = (is: string) =>
      `the check could not decide: The check of guardrail 'odd' returned ${is}, not a verdict of Agent.guard or an Effect of that`
    for (const odd of [{}, { type: "other" }, { type: "block" }, { type: "replace" }, { type: "replace", text: 5 }, []])
      assert.strictEqual(yield* endOf(odd), wrong("an object"), JSON.stringify(odd))
    assert.strictEqual(yield* endOf(true), wrong("a boolean"))
    assert.strictEqual(yield* endOf(undefined), wrong("undefined"))
  })
)

it.run("a limit that the agent of a check reaches ends the run, and is no block [P1599]", (run) =>
  Effect.gen(function* () {
    const usage = Usage.make({ inputTokens: 90, outputTokens: 20 })
    const judge = Agent.make("judge", {})
    const agent = Agent.make("clerk", { budget: { maxTokens: 100 } }).pipe(
      Agent.guardInput(({ text }) => Effect.as(judge(text), pass), { mode: "before" })
    )
    const model = yield* make(replies(reply({ content: [{ type: "text", text: "fine" }], usage })))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    const error = errorOf(seen.exit)
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepInclude(error, { agent: "clerk", reason: "maxTokens", spent: 110 })
    assert.deepStrictEqual(
      seen.events.flatMap((event) => (event.type === "guardrail" ? event.verdict : [])),
      []
    )
  })
)
