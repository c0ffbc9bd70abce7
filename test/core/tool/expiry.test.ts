/** What becomes of a call about which no decision comes in time. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Snapshot, Tool, ToolError } from "@kintsugi/core"
import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { after } = ScriptedApprover
const { call, calls, make } = ScriptedModel

const paying = <const X extends "ask-again" | "refuse" | "fail">(onExpiry: X) => {
  const runs: Array<number> = []
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: ({ cents }) => Effect.sync(() => `paid ${runs.push(cents)}`)
  }).pipe(Tool.requireApproval({ validFor: "1 minute", onExpiry }))
  return { runs, tool }
}

const pay = calls(call("pay", { cents: 5 }, "c1"))

const undecided = "denied: The call of tool 'pay' was denied and not run: no decision about it came in time"

it.run("at its expiry a call is refused, and no text says that a person has refused [P1373 P1530]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying("refuse")
    const model = yield* make(pay, done)
    const approver = yield* ScriptedApprover.make(after("2 minutes", Approval.approve))
    const log = eventLog()
    const agent = agentWith(tool).pipe(log.listen)
    const fiber = yield* run(agent, "go").pipe(
      Effect.provide(approver.layer),
      Effect.provide(model.layer),
      Effect.forkChild
    )
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(model.requests.length, 1)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(read(model), [undecided])
    assert.deepStrictEqual(log.of("approval-decided"), [])
    assert.deepStrictEqual(
      log.of("approval-expired").map(({ request }) => [request.requestedAt, request.expiresAt]),
      [[0, 60_000]]
    )
    assert.deepStrictEqual(
      log.of("tool-denied").map(({ settlement }) => settlement.kind),
      ["denied"]
    )
  })
)

it.run("a decision at the very instant of the expiry counts, however often it waited [P1530]", (run) =>
  Effect.gen(function* () {
    for (const decision of [
      after("1 minute", Approval.approve),
      Effect.andThen(Effect.sleep("30 seconds"), after("30 seconds", Approval.approve))
    ]) {
      const { runs, tool } = paying("refuse")
      const model = yield* make(pay, done)
      const approver = yield* ScriptedApprover.make(decision)
      const running = run(agentWith(tool), "go").pipe(Effect.provide(approver.layer), Effect.provide(model.layer))
      const fiber = yield* Effect.forkChild(running)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.deepStrictEqual(runs, [5])
    }
  })
)

it.run("at its expiry a call fails, which its rows may handle, or ends the run [P1530]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = paying("fail")
    for (const row of [undefined, Recovery.tell(() => "no one was there")]) {
      const model = yield* make(pay, ...(row === undefined ? [] : [done]))
      const approver = yield* ScriptedApprover.make(after("never", Approval.approve))
      const guarded = row === undefined ? tool : tool.pipe(Tool.onError({ ApprovalExpiredError: row }))
      const fiber = yield* run(agentWith(guarded), "go").pipe(
        Effect.provide(approver.layer),
        Effect.provide(model.layer),
        Effect.exit,
        Effect.forkChild
      )
      yield* TestClock.adjust(60_001)
      const exit = yield* Fiber.join(fiber)
      if (row === undefined) {
        assert.instanceOf(yield* Effect.flip(exit), ToolError.ApprovalExpiredError)
      } else {
        assert.deepStrictEqual(exit, Exit.succeed("done"))
        assert.deepStrictEqual(read(model), ["told: no one was there"])
      }
    }
    assert.deepStrictEqual(runs, [])
  })
)

it.effect("a suspended run applies it when it is resumed, with or without decisions [P1530]", () =>
  Effect.gen(function* () {
    for (const isDecided of [true, false]) {
      const { runs, tool } = paying("refuse")
      const log = eventLog()
      const agent = agentWith(tool).pipe(log.listen)
      const model = yield* make(pay, done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      yield* TestClock.adjust("61 seconds")
      const outcome = yield* outcomeOf(Agent.resume(agent), isDecided ? deciding(from) : { from }, model)
      assert.strictEqual(outcome._tag, "Completed")
      assert.deepStrictEqual(runs, [])
      assert.deepStrictEqual(read(model), [undecided])
      assert.strictEqual(log.of("approval-expired").length, 1)
      assert.deepStrictEqual(
        outcome.decisions?.map((answer) => ("reason" in answer ? answer.reason : answer._tag)),
        isDecided ? ["late"] : undefined
      )
    }
  })
)

it.effect("a suspended run fails when it is resumed too late, and goes on at the last instant [P1530]", () =>
  Effect.gen(function* () {
    for (const [seconds, isLate] of [
      [60, false],
      [61, true]
    ] as const) {
      const { runs, tool } = paying("fail")
      const agent = agentWith(tool)
      const model = yield* make(pay, ...(isLate ? [] : [done]))
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      yield* TestClock.adjust(seconds * 1000)
      const exit = yield* Effect.exit(outcomeOf(Agent.resume(agent), deciding(from), model))
      assert.strictEqual(exit._tag, isLate ? "Failure" : "Success")
      if (isLate) assert.instanceOf(yield* Effect.flip(exit), ToolError.ApprovalExpiredError)
      assert.deepStrictEqual(runs, isLate ? [] : [5])
    }
  })
)

it.effect("of a sub-agent that waits with its parent, the expiry is applied with it [P1530]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying("refuse")
    const helper = Agent.make("helper", { tools: [tool] })
    const boss = agentWith(Agent.asTool(helper, { description: "Helps." }))
    const model = yield* make(calls(call("helper", { input: "pay" }, "c0")), pay, done, done)
    const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual((yield* outcomeOf(Agent.resume(boss), { from }, model))._tag, "Completed")
    assert.deepStrictEqual(runs, [])
    assert.strictEqual(Snapshot.requestsOf(from).length, 1)
  })
)
