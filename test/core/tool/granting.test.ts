/** Grants of one run beside each other, and a store that cannot be read. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, busy, done } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { centsOf, deciders, paying, pays } from "./_support/grants.ts"

it.run("a run has the grants of all its approvals [P1531]", (run) =>
  Effect.gen(function* () {
    const { paid, tool } = paying()
    const forRun = Approval.approveFor("run")
    const { asked, layer } = deciders(forRun, forRun)
    const model = yield* ScriptedModel.make(pays(5), pays(6), pays(5), pays(6), done)
    yield* run(agentWith(tool), "go").pipe(Effect.provide([model.layer, layer]))
    assert.deepStrictEqual(paid, [5, 6, 5, 6])
    assert.deepStrictEqual(centsOf(asked), ["5", "6"])
  })
)

it.run("where grants cannot be read or stored, a person is asked, and the log says so [P1531]", (run) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      lines.push(`${logLevel} ${String([message].flat()[0])}`)
    })
    const failing = Effect.fail(new Error("the store is down"))
    const broken: Approval.Approvals = {
      ...Approval.approvalsOfProcess(),
      grantsOf: () => failing,
      add: () => failing
    }
    const { paid, tool } = paying()
    const { asked, layer } = deciders(Approval.approveFor({ conversation: "talk" }), Approval.approve)
    const model = yield* ScriptedModel.make(pays(5), pays(5), done)
    yield* run(agentWith(tool), "go").pipe(
      Effect.provide([model.layer, layer, Logger.layer([logger])]),
      Effect.provideService(Approval.Approvals, broken),
      Effect.provideService(Approval.Conversation, "talk")
    )
    assert.deepStrictEqual(paid, [5, 5])
    assert.lengthOf(asked, 2)
    const unread = "Warn Grants could not be read: a person is asked"
    assert.deepStrictEqual(lines, [unread, "Warn Grants could not be stored: a person is asked", unread])
  })
)

it.effect("a call that is approved for the run once more, because its grant has expired, has one grant [P1531]", () =>
  Effect.gen(function* () {
    const paid: Array<number> = []
    const repaired = ['{"cents": 6}', '{"cents": 5}']
    const tool = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({ cents: Schema.Int }),
      success: Schema.String,
      run: ({ cents }) => (paid.push(cents) < 3 ? Effect.fail(busy()) : Effect.succeed("paid"))
    }).pipe(
      Tool.requireApproval(),
      Tool.onError({ Busy: Recovery.fix(() => Effect.succeed(repaired[paid.length - 1] ?? ""), { retries: 2 }) })
    )
    const agent = agentWith(tool)
    const model = yield* ScriptedModel.make(pays(5), pays(7))
    let from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const untilSoon = Approval.approveFor("run", { until: 1000 })
    for (const decision of [untilSoon, Approval.approve, Approval.approveFor("run")]) {
      from = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(from, decision), model))
      yield* TestClock.adjust(2000)
    }
    assert.deepStrictEqual(paid, [5, 6, 5])
    assert.deepStrictEqual(
      from.grants?.map(({ until }) => until),
      [undefined]
    )
  })
)
