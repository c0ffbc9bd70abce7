/** Decisions that come after a message has withdrawn their requests, with a later snapshot of the run. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { agentWith, done } from "../../_support/dialogue.ts"
import { outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { started } from "./_support/saying.ts"

const { call, calls, make, text } = ScriptedModel

const pay = (...cents: ReadonlyArray<number>) => calls(...cents.map((one) => call("pay", { cents: one }, `c${one}`)))

const superseding = [{ message: "never mind", supersede: true }]

const fatesOf = (outcome: Agent.Outcome<unknown>) =>
  outcome.decisions?.map((answer) => (answer._tag === "Counted" ? answer._tag : answer.reason))

const stored = (snapshot: Snapshot.Snapshot) =>
  Effect.orDie(Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(snapshot)))))

it.effect(
  "a decision about a request that was withdrawn before is answered so with each later snapshot [P1533 P1584]",
  () =>
    Effect.gen(function* () {
      for (const isNested of [false, true]) {
        const { runs, tool } = paying()
        const inner = Agent.make("inner", { tools: [tool] })
        const plain = agentWith(tool)
        const nested = Agent.make("worker", { tools: [Agent.asTool(inner, { description: "Pays." }), tool] })
        // both run in the same way
        const agent = isNested ? (nested as unknown as typeof plain) : plain
        const model = yield* make(
          ...(isNested ? [calls(call("inner", { input: "go" }, "i")), pay(1), text("not paid")] : [pay(1)]),
          pay(2),
          pay(3),
          done
        )
        const first = yield* snapshotOf(yield* Effect.orDie(outcomeOf(agent, "go", model)))
        const [old = ""] = Snapshot.requestsOf(first).map(({ digest }) => digest)
        const goneOn = yield* started(Agent.resume(agent).start({ from: first, say: superseding }), model)
        const second = yield* snapshotOf(yield* Effect.orDie(goneOn.outcome))
        const [next = ""] = Snapshot.requestsOf(second).map(({ digest }) => digest)
        const decisions = [old, next, "0".repeat(64)].map((digest) => ({ digest, decision: Approval.approve }))
        const third = yield* started(Agent.resume(agent).start({ from: yield* stored(second), decisions }), model)
        const outcome = yield* Effect.orDie(third.outcome)
        assert.deepStrictEqual(fatesOf(outcome), ["withdrawn", "Counted", "unknown-request"])
        // later snapshots know it too
        const last = yield* snapshotOf(outcome)
        const fourth = yield* started(
          Agent.resume(agent).start({ from: yield* stored(last), decisions: decisions.slice(0, 1), say: superseding }),
          model
        )
        assert.deepStrictEqual(fatesOf(yield* Effect.orDie(fourth.outcome)), ["withdrawn"])
        assert.deepStrictEqual(runs, [2])
      }
    })
)
