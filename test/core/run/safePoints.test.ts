/** The safe point: the place between two turns at which every call of the last reply has a settlement. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { batch, busy, done, eventLog, scripted, settlements } from "../../_support/dialogue.ts"
import { it, type Runner } from "../../_support/run.ts"

const { make } = ScriptedModel

/** What is done at a safe point, in this order: where two of these are due, the run does the one that comes first. */
const order = [
  { step: "a hard failure ends the run", ends: "Busy" },
  { step: "a limit ends the run", ends: "BudgetExceededError" },
  { step: "tools are switched off", ends: "asked with none" },
  { step: "the model is asked", ends: "asked with auto" }
] as const

/** How a run ends, or what its second request is, in which this step and all after it are due once its first reply is settled. */
const dueFrom = (first: number, run: Runner) =>
  Effect.gen(function* () {
    const log = eventLog()
    const verdict = first <= 2 ? Recovery.tell(() => "off", { then: "tools-off" }) : Recovery.tell()
    const telling = scripted("told", Effect.fail(busy())).tool.pipe(Tool.onError({ Busy: verdict }))
    const last = scripted("last", first === 0 ? Effect.fail(busy()) : Effect.succeed("seen")).tool
    const agent = Agent.make("worker", {
      skills: [Skill.make("work", { description: "Works.", tools: [telling, last] })],
      budget: { maxTurns: first <= 1 ? 1 : 9 }
    }).pipe(log.listen)
    const model = yield* make(batch("told", "last"), ...(first >= 2 ? [done] : []))
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
    const [, second] = model.requests
    if (second !== undefined) return { ends: `asked with ${second.toolChoice}`, log }
    assert(Exit.isFailure(exit))
    return { ends: ErrorCause.tagOf(Cause.squash(exit.cause)), log }
  })

it.run("what is done between two turns is done in one order, when every call is settled [P1501]", (run) =>
  Effect.gen(function* () {
    for (const [index, { ends, step }] of order.entries()) {
      const found = yield* dueFrom(index, run)
      assert.strictEqual(found.ends, ends, step)
      const [turn] = found.log.of("turn-end")
      assert.lengthOf(settlements(turn === undefined ? [] : [turn.message]), 2, step)
      // a step that ends the run comes before the next turn begins for listeners
      assert.lengthOf(found.log.of("turn-start"), ends.startsWith("asked") ? 2 : 1, step)
    }
  })
)
