/** When a call needs a decision: a request that has expired, and a tool that needs no approval any more. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, done, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

const pay = calls(call("pay", { cents: 5 }, "c1"))

/** An approver whose first decision takes two minutes, and what it was asked about. */
const slowAtFirst = () => {
  const asked: Array<Approval.ApprovalRequest> = []
  const layer = Approval.layer((request) =>
    Effect.suspend(() =>
      asked.push(request) === 1
        ? Effect.as(TestClock.adjust("2 minutes"), Approval.approve)
        : Effect.succeed(Approval.approve)
    )
  )
  return { asked, layer }
}

it.run("where a request has expired, the predicate is asked once more [P903 P906]", (run) =>
  Effect.gen(function* () {
    for (const isNeededStill of [true, false]) {
      const answers = [true, isNeededStill]
      const { runs, tool } = paying({ validFor: "1 minute", when: () => answers.shift() ?? false })
      const { asked, layer } = slowAtFirst()
      const model = yield* make(pay, done)
      yield* run(agentWith(tool), "go").pipe(Effect.provide([model.layer, layer]))
      assert.lengthOf(asked, isNeededStill ? 2 : 1)
      assert.deepStrictEqual(runs, [5])
    }
  })
)

it.effect("a request with which a run was suspended is renewed without the predicate [P903 P906]", () =>
  Effect.gen(function* () {
    let isNeeded = true
    const { runs, tool } = paying({ validFor: "1 minute", when: () => isNeeded })
    const agent = agentWith(tool)
    const model = yield* make(pay, done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    isNeeded = false
    const { asked, layer } = slowAtFirst()
    yield* Agent.resume(agent)({ from }).pipe(Effect.provide([model.layer, layer]))
    assert.lengthOf(asked, 2)
    assert.deepStrictEqual(runs, [5])
  })
)

it.effect("a run that waits for a decision needs it, though its tool needs no approval any more [P902]", () =>
  Effect.gen(function* () {
    for (const [decision, expected] of [
      [Approval.approve, "result: paid"],
      [Approval.refuse("too much"), "denied: "]
    ] as const) {
      const model = yield* make(pay, done)
      const from = yield* snapshotOf(yield* outcomeOf(agentWith(paying().tool), "go", model))
      const free = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({ cents: Schema.Int }),
        success: Schema.String,
        run: () => Effect.succeed("paid")
      })
      const end = yield* outcomeOf(Agent.resume(agentWith(free)), deciding(from, decision), model)
      assert.strictEqual(end._tag, "Completed")
      const [answer = ""] = read(model)
      assert.isTrue(answer.startsWith(expected), answer)
      if (decision.type === "refuse") assert.include(answer, "too much")
    }
  })
)
