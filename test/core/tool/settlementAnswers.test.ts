/** The answers to the settlements of a resumption: whether each counts, and if not, why. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { batch, callingOnce, done } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { agentWith, Declined, deferring } from "./_support/deferring.ts"

const { call, calls, make, text } = ScriptedModel

const of = (token: string, at = 1) => ({ token, exit: Exit.succeed({ at }) })
const counted = (token: string) => ({ _tag: "Counted", token }) as const
const not = (token: string, reason: string) => ({ _tag: "NotCounted", token, reason }) as const

it.effect("each settlement is answered in its order: the first counts, a second and a foreign one do not [P1521]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const agent = agentWith(tool)
    const model = yield* callingOnce("order", "order")
    const started = yield* outcomeOf(agent, "go", model)
    assert.notProperty(started, "settlements")
    const [first, second] = [tokenOf(0), tokenOf(1)]
    const settlements = [of(first), of("foreign"), of(first, 2), of("foreign")]
    const next = yield* outcomeOf(Agent.resume(agent), { from: yield* snapshotOf(started), settlements }, model)
    assert.strictEqual(next._tag, "Suspended")
    assert.deepStrictEqual(next.settlements as unknown, [
      counted(first),
      not("foreign", "unknown-token"),
      not(first, "already-settled"),
      not("foreign", "unknown-token")
    ])
    assert.notProperty(next, "decisions")
    const without = yield* outcomeOf(Agent.resume(agent), { from: yield* snapshotOf(next) }, model)
    assert.notProperty(without, "settlements")
    const from = yield* snapshotOf(without)
    const last = yield* outcomeOf(Agent.resume(agent), { from, settlements: [of(first), of(second)] }, model)
    assert.strictEqual(last._tag, "Completed")
    assert.deepStrictEqual(last.settlements as unknown, [not(first, "unknown-token"), counted(second)])
  })
)

it.effect("a late settlement is answered, and so is one that comes with a message [P1521 P1525]", () =>
  Effect.gen(function* () {
    for (const [minutes, wait] of [
      [61, "suspend"],
      [61, "continue"],
      [1, "suspend"]
    ] as const) {
      const { tokenOf, tool } = deferring({ wait })
      const agent = agentWith(tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() })))
      const model = yield* wait === "suspend" ? callingOnce("order") : make(batch("order"), done, done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      yield* TestClock.adjust(Duration.minutes(minutes))
      // settlements are applied first
      const say = [{ message: "never mind", supersede: true }]
      const end = yield* outcomeOf(Agent.resume(agent), { from, say, settlements: [of(tokenOf())] }, model)
      assert.strictEqual(end._tag, "Completed")
      assert.deepStrictEqual(end.settlements as unknown, [minutes < 60 ? counted(tokenOf()) : not(tokenOf(), "late")])
    }
  })
)

it.effect("the handle of a run that fails has the answers too [P1521]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring()
    const agent = agentWith(tool)
    const model = yield* make(batch("order"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const exit = Exit.fail(new Declined({ why: "no" }))
    const settlements = [{ token: tokenOf(), exit }, of("foreign")]
    const run = yield* Agent.resume(agent).start({ from, settlements }).pipe(Effect.provide(model.layer))
    assert.isTrue(Exit.isFailure(yield* Effect.exit(run.outcome)))
    assert.deepStrictEqual((yield* run.settlements) as unknown, [counted(tokenOf()), not("foreign", "unknown-token")])
    assert.deepStrictEqual(yield* run.decisions, [])
  })
)

it.effect("a settlement is answered where the run goes on, in a sub-agent, and beside decisions [P1521 P1524]", () =>
  Effect.gen(function* () {
    const goes = deferring({ wait: "continue" })
    const model = yield* make(batch("order"), done, done)
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(goes.tool), "go", model))
    const settlements = [of(goes.tokenOf()), of(goes.tokenOf(), 2)]
    const end = yield* outcomeOf(Agent.resume(agentWith(goes.tool)), { from, settlements }, model)
    assert.deepStrictEqual(end.settlements as unknown, [
      counted(goes.tokenOf()),
      not(goes.tokenOf(), "already-settled")
    ])
    const { tokenOf, tool } = deferring()
    const child = Agent.make("child", { tools: [tool, paying().tool], budget: { maxDuration: "1 day" } })
    const boss = agentWith(Agent.asTool(child, { description: "Works." }))
    const both = yield* make(
      calls(call("child", { input: "go" }, "x")),
      calls(call("order", {}, "c1"), call("pay", { cents: 1 }, "c2")),
      text("all is done"),
      done
    )
    const nested = yield* snapshotOf(yield* outcomeOf(boss, "go", both))
    const given = { ...deciding(nested, Approval.approve), settlements: [of(tokenOf())] }
    const whole = yield* outcomeOf(Agent.resume(boss), given, both)
    assert.strictEqual(whole._tag, "Completed")
    assert.deepStrictEqual(whole.settlements as unknown, [counted(tokenOf())])
    assert.deepStrictEqual(
      whole.decisions?.map(({ _tag }) => _tag),
      ["Counted"]
    )
  })
)
