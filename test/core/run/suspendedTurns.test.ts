/** Batches of which some calls wait for a decision: what is told, and what is kept, until they go on. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, Stream } from "effect"
import { batch, busy, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, only, outcomeOf, snapshotOf, waitingCalls } from "../../_support/suspension.ts"

it.effect("after a suspension no settled call reruns, and a skipped call is emitted once [P902 P401 A1203]", () =>
  Effect.gen(function* () {
    const look = scripted("look", Effect.succeed("seen"))
    const pay = scripted("pay", Effect.succeed("paid"))
    const tools = [look.tool, pay.tool.pipe(Tool.requireApproval())]
    const agent = Agent.make("worker", {
      budget: { maxToolCalls: 2 },
      skills: [Skill.make("work", { description: "Works.", tools })]
    })
    const model = yield* ScriptedModel.make(batch("look", "pay", "look"))
    const skippedIn = (handle: Agent.Run<string, unknown>) =>
      Effect.map(Stream.runCollect(Stream.orDie(handle.events)), (events) =>
        only(events, "tool-skipped").map(({ callId }) => callId)
      )
    const first = yield* agent.start("go").pipe(Effect.provide(model.layer))
    const from = yield* snapshotOf(yield* first.outcome)
    assert.deepStrictEqual(yield* skippedIn(first), [])
    const second = yield* Agent.resume(agent).start(deciding(from)).pipe(Effect.provide(model.layer))
    const error = yield* Effect.flip(second.outcome)
    assert(error._tag === "BudgetExceededError")
    assert.deepStrictEqual(yield* skippedIn(second), ["c3"])
    assert.deepStrictEqual(
      settlements(error.transcript).map((line) => line.split(":")[0]),
      ["result", "result", "interrupted"]
    )
    assert.deepStrictEqual([look.runs.length, pay.runs.length], [1, 1])
  })
)

it.effect(
  "a snapshot keeps the counts of a row under its table and its tag, where a later version finds them [P1104]",
  () =>
    Effect.gen(function* () {
      const paying = <const Name extends string>(name: Name) =>
        Tool.make(name, {
          description: "Pays.",
          parameters: Schema.Struct({ n: Schema.Finite }),
          success: Schema.String,
          run: () => Effect.fail(busy())
        }).pipe(Tool.requireApproval())
      const Busy = Recovery.fix((_raw: string) => Effect.succeed('{"n":1}'))
      const tools = [paying("a").pipe(Tool.onError({ Busy })), paying("b"), paying("c")] as const
      const agent = Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools })] }).pipe(
        Agent.onToolError({ b: { Busy } }),
        Agent.toolDefaults({ Busy })
      )
      const calls = ["a", "b", "c"].map((name) => ScriptedModel.call(name, { n: 0 }, name))
      const model = yield* ScriptedModel.make(ScriptedModel.calls(...calls))
      const asked = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      const repaired = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), deciding(asked), model))
      assert.strictEqual(Snapshot.requestsOf(repaired).length, 3)
      assert.deepStrictEqual(
        waitingCalls(repaired).map(({ progress }) => progress?.position.slots),
        ["tool.Busy", "agent.Busy", "defaults.Busy"].map((row) => [
          { row, rungs: [], kind: "fix" as const, count: 1, steps: [] }
        ])
      )
    })
)
