/** A reply that is open when its run is suspended or fails: each of its calls goes on as far as it had come. */
import { assert, it } from "@effect/vitest"
import { Agent, Budget, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { busy, done, eventLog, lastTranscript, overADay, read, scripted, settlements } from "../../_support/dialogue.ts"
import { deciding, only, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"
import { calling, family, look } from "./_support/family.ts"

const { call, calls, make, text } = ScriptedModel

const seen = Effect.succeed("seen")

const skills = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) => [
  Skill.make("work", { description: "Works.", tools })
]

it.effect("a call whose turn has not come when a limit suspends the run begins when the run goes on [P1308 A909]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = family()
    const last = scripted("last", Effect.succeed("was last"))
    const boss = Agent.make("boss", {
      budget: { maxTurns: 2, toolConcurrency: 1 },
      skills: skills(tool, last.tool)
    }).pipe(
      Agent.onBudgetExceeded(() => Budget.checkpoint),
      log.listen
    )
    const model = yield* make(calls(calling(), call("last", {}, "b")), look, text("sub done"), done)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    assert.deepStrictEqual(
      from.unfinished?.calls.map(({ type }) => type),
      ["agent", "not-begun"]
    )
    assert.deepStrictEqual(only(log.all, "tool-skipped"), [])
    assert.deepStrictEqual(last.runs, [])
    const end = yield* outcomeOf(Agent.resume(boss), { from, budget: { maxTurns: 9 } }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(read(model), ["result: sub done", "result: was last"])
    assert.strictEqual(last.runs.length, 1)
    assert.deepStrictEqual(only(log.all, "tool-skipped"), [])
  })
)

it.effect("a call after a call that the limit has cut off begins when the run goes on, too [P1308 A909]", () =>
  Effect.gen(function* () {
    const slow = scripted("slow", Effect.never)
    const last = scripted("last", Effect.succeed("was last"))
    const budget = { maxDuration: "10 seconds", toolConcurrency: 1 } as const
    const boss = Agent.make("boss", { budget, skills: skills(slow.tool, last.tool) }).pipe(
      Agent.onBudgetExceeded(() => Budget.checkpoint)
    )
    const model = yield* make(calls(call("slow", {}, "a"), call("last", {}, "b")), done)
    const outcome = yield* Effect.flatten(overADay(outcomeOf(boss, "go", model)))
    const from = yield* snapshotOf(outcome)
    assert.deepStrictEqual(
      from.unfinished?.calls.map(({ type }) => type),
      ["finished", "not-begun"]
    )
    const end = yield* outcomeOf(Agent.resume(boss), { from, budget: { maxDuration: "3 days" } }, model)
    assert.strictEqual(end._tag, "Completed")
    assert.deepStrictEqual(read(model), ["interrupted: The call was interrupted before it ended.", "result: was last"])
  })
)

it.effect("a failure withdraws a request that waits, also where the failure interrupts its siblings [P1514]", () =>
  Effect.gen(function* () {
    for (const siblings of ["settleAll", "interrupt"] as const) {
      const log = eventLog()
      const bad = scripted("bad", Effect.delay(Effect.fail(busy()), "1 second")).tool
      const boss = Agent.make("boss", { siblings, skills: skills(paying().tool, bad) }).pipe(log.listen)
      const model = yield* make(calls(call("pay", { cents: 1 }, "p"), call("bad", {}, "x")))
      const exit = yield* overADay(outcomeOf(boss, "go", model))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(
        only(log.all, "tool-skipped").map(({ callId, settlement: { kind } }) => [callId, kind]),
        [["p", "interrupted"]]
      )
    }
  })
)

it.effect("an unsafe sub-agent that waits may have acted: a failure beside it leaves that unknown [P602 P1514]", () =>
  Effect.gen(function* () {
    for (const sideEffects of ["unsafe", "idempotent"] as const) {
      const log = eventLog()
      const { sub } = family()
      const bad = scripted("bad", Effect.delay(Effect.fail(busy()), "1 second")).tool
      const tool = Agent.asTool(sub, { description: "S.", sideEffects })
      const boss = Agent.make("boss", { skills: skills(tool, bad) }).pipe(log.listen)
      const payment = calls(call("pay", { cents: 5 }, "p"))
      const model = yield* make(calls(calling(), call("bad", {}, "x")), look, payment)
      assert.isTrue(Exit.isFailure(yield* overADay(outcomeOf(boss, "go", model))))
      const kinds = settlements(lastTranscript(log.all.at(-1))).map((settlement) => settlement.split(":")[0])
      assert.deepStrictEqual(kinds, [sideEffects === "unsafe" ? "unknown" : "interrupted", "told"])
    }
  })
)

it.effect("of the time of a call is left what its first attempt had not used when it was suspended [P1516 A906]", () =>
  Effect.gen(function* () {
    const pay = paying({ validFor: "10 days" }).tool
    const naps = scripted("nap", Effect.delay(seen, "50 seconds"), Effect.delay(seen, "50 seconds"))
    const nap = calls(call("nap", {}, "n"))
    const inner = yield* make(nap, calls(call("pay", { cents: 1 }, "p")), nap)
    const sub = Agent.make("sub", { model: inner.layer, skills: skills(naps.tool, pay) })
    const tool = Agent.asTool(sub, { description: "S.", callTimeout: "60 seconds" })
    const boss = Agent.make("boss", { skills: skills(tool) })
    const model = yield* make(calls(calling()))
    const from = yield* snapshotOf(yield* Effect.flatten(overADay(outcomeOf(boss, "go", model))))
    const exit = yield* overADay(outcomeOf(Agent.resume(boss), deciding(from), model))
    assert(Exit.isFailure(exit))
    const error = yield* Effect.flip(exit)
    assert.deepInclude(error, { _tag: "ToolExecutionError", tool: "sub" })
    assert.include(String(error), "for the whole call")
  })
)

it.effect("a run whose sub-agent has another name, or is none any more, does not go on from it [P1506 A909]", () =>
  Effect.gen(function* () {
    const { boss } = family()
    const model = yield* make(calls(calling()), look, calls(call("pay", { cents: 5 }, "p")))
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const renamed = Agent.make("renamed", { skills: [] })
    const plain = Tool.make("sub", {
      description: "S.",
      parameters: Schema.Struct({ input: Schema.String }),
      success: Schema.String,
      run: () => Effect.die("this tool is not run")
    })
    const others = [
      Agent.make("boss", { skills: skills(Agent.asTool(renamed, { name: "sub", description: "S." })) }),
      Agent.make("boss", { skills: skills(plain) }),
      Agent.make("boss", {})
    ] as const
    for (const other of others) {
      const resumed = Effect.scoped(Effect.exit(outcomeOf(Agent.resume(other), deciding(from), model)))
      const exit = yield* resumed
      assert(Exit.isFailure(exit))
      assert.deepInclude(yield* Effect.flip(exit), { _tag: "SnapshotRefusedError", reason: "other-agent" })
    }
  })
)

it.effect("what is no snapshot and no transcript is refused before there is a run [P1506]", () =>
  Effect.gen(function* () {
    const log = eventLog()
    const { boss } = family()
    const model = yield* make(calls(calling()), look, calls(call("pay", { cents: 5 }, "p")))
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    const documents = [
      null,
      7,
      "text",
      {},
      [{ role: "user" }],
      { ...from, version: 3 },
      { ...from, unfinished: {} },
      JSON.parse(JSON.stringify({ ...from, ledger: [{}] }))
    ]
    for (const document of documents) {
      const resumed = outcomeOf(Agent.resume(boss.pipe(log.listen)), { from: document }, model)
      const error = yield* Effect.flip(resumed)
      assert.deepInclude(error, { _tag: "SnapshotRefusedError", reason: "malformed" })
    }
    assert.deepStrictEqual(log.all, [])
  })
)
