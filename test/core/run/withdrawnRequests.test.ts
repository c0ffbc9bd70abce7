/** Decisions that come after their requests were withdrawn, with a later snapshot of the run. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Budget, Recovery, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { agentWith, busy, calm, done, eventLog, scripted } from "../../_support/dialogue.ts"
import { outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { slowTool, started } from "./_support/saying.ts"

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

it.effect(
  "so is one that its run has not waited for to the end: it has answered at a limit, has failed, or was interrupted [P1514 P1533 P1583 P1594]",
  () =>
    Effect.gen(function* () {
      for (const why of ["answer", "failure", "message"] as const) {
        const log = eventLog()
        const { runs, tool } = paying()
        const slow = slowTool("slow")
        const failing = scripted("fail", Effect.fail(busy()))
        const child = Agent.make("child", { tools: [scripted("look", Effect.succeed("seen")).tool] })
        const ask = Agent.asTool(child, { name: "ask", description: "Looks." })
        const inner = Agent.make("inner", {
          tools: [tool, ask, failing.tool, slow.tool],
          budget: { maxTurns: why === "answer" ? 2 : 9 }
        }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
        const agent = Agent.make("worker", { tools: [Agent.asTool(inner, { description: "Pays." }), tool] }).pipe(
          Agent.toolDefaults({ orElse: Recovery.tell() }),
          log.listen
        )
        const beside = { answer: call("ask", { input: "why?" }), failure: call("fail", {}), message: call("slow", {}) }
        const model = yield* make(
          calls(call("inner", { input: "go" }, "i")),
          calls(call("pay", { cents: 1 }, "c1"), beside[why]),
          ...(why === "answer" ? [calls(call("look", {})), text("not paid")] : []),
          pay(2),
          done
        )
        const run = yield* started(agent.start("go"), model)
        if (why === "message") {
          yield* slow.begun
          yield* calm
          yield* run.say("stop", { interrupt: "tools" })
        }
        const from = yield* snapshotOf(yield* Effect.orDie(run.outcome))
        const [old, next] = log.of("approval-requested").map(({ request }) => request.digest)
        const decisions = [old, next].map((digest = "") => ({ digest, decision: Approval.approve }))
        const goneOn = yield* started(Agent.resume(agent).start({ from: yield* stored(from), decisions }), model)
        assert.deepStrictEqual(fatesOf(yield* Effect.orDie(goneOn.outcome)), ["withdrawn", "Counted"], why)
        assert.deepStrictEqual(runs, [2], why)
      }
    })
)
