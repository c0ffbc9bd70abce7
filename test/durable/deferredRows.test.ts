/** The rows of deferred calls: what a run finds at a safe point, and what ends the wait of a call. */
import { assert, it } from "@effect/vitest"
import * as RunContext from "@kintsugi/core/RunContext"
import { Effect, Exit, Schema } from "effect"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { TestClock } from "effect/testing"
import { deferring, settle, withdrawing } from "../../packages/durable/src/deferred.ts"
import { processOfReplays, spendingRun } from "./_support/replays.ts"
import { workflow } from "./_support/rows.ts"

const stored = { success: Schema.String as never, failure: undefined }

/** A run at its second turn. */
const run = (runId: string) =>
  // a run with only what names its steps
  ({ ...spendingRun().run, runId, agent: "clerk", turn: () => 2 }) as RunContext.RunContext

const call = (token: string, more: object = {}) => ({
  token,
  callId: "1",
  tool: "order",
  handle: { job: 7 },
  expiresAt: 2000,
  stored,
  polls: undefined,
  run: run("child"),
  found: undefined,
  ...more
})

const valueOf = (exit: Exit.Exit<unknown, unknown> | undefined) =>
  exit !== undefined && Exit.isSuccess(exit) ? exit.value : exit

it("what withdraws a call is a row without a settlement [P1117]", () => {
  assert.deepStrictEqual(withdrawing(5), { _tag: "Closed", at: 5, id: "", reason: "superseded" })
})

it.effect("a run finds settlements, results of polls and late calls at a safe point, as recorded [P1524]", () =>
  Effect.gen(function* () {
    const process = yield* processOfReplays
    yield* TestClock.setTime(1000)
    const one = process.replay()
    const sending = settle(workflow, "run", "a", { id: "s", stored, exit: Exit.succeed("done") })
    const within = Effect.provideService(WorkflowEngine, one.engine)
    assert.strictEqual(yield* within(sending), "counted")
    assert.strictEqual(yield* within(sending), "counted")
    const other = settle(workflow, "run", "a", { id: "t", stored, exit: Exit.succeed("other") })
    assert.strictEqual(yield* within(other), "already-settled")
    const calls = [
      call("a"),
      call("b", { found: Exit.succeed("polled") }),
      call("c", { expiresAt: 1000 }),
      call("d", { expiresAt: 1001 })
    ]
    const expected = [Exit.succeed("done"), Exit.succeed("polled"), "late", undefined]
    // the line of the calls exists before the look
    assert.strictEqual(one.lines.of(run("child")).time, 0)
    const look = (replay: typeof one) =>
      Effect.provideService(deferring(replay).look(calls as never), RunContext.Current, run("r"))
    assert.deepStrictEqual<unknown>(yield* look(one), expected)
    assert.deepStrictEqual(one.lines.of(run("child")).time, 1000)
    assert.deepStrictEqual(Object.keys(process.stored()), ["r/2/look/1"])
    const ofRow = (name: string) => valueOf(process.rows.get(name))
    const value = (text: string) => ({ _tag: "Result", value: text })
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((token) => ofRow(`deferred/${token}`)),
      [
        { _tag: "Settlement", at: 1000, id: "s", exit: value("done") },
        { _tag: "Settlement", at: 1000, id: "poll", exit: value("polled") },
        { _tag: "Closed", at: 1000, id: "", reason: "late" },
        undefined
      ]
    )
    // a replay finds the same, later too
    yield* TestClock.setTime(5000)
    const next = process.replay()
    assert.deepStrictEqual<unknown>(yield* look(next), expected)
    assert.strictEqual(next.lines.of(run("child")).time, 1000)
    assert.strictEqual(
      yield* within(settle(workflow, "run", "c", { id: "s", stored, exit: Exit.succeed("x") })),
      "late"
    )
    // outside of a run
    yield* deferring(next).look([])
    assert.deepStrictEqual(Object.keys(process.stored()), ["r/2/look/1", "/0/look/1"])
  })
)

it.effect(
  "a call whose run goes on is listed, and closed at the time of its line; no settlement counts then [P1524]",
  () =>
    Effect.gen(function* () {
      const { replay, rows } = yield* processOfReplays
      const one = replay()
      one.lines.of(run("r")).advance(700)
      const { begun, close } = deferring(one)
      const within = Effect.provideService(RunContext.Current, run("r"))
      yield* within(begun(call("a") as never))
      const ofRow = (name: string) => valueOf(rows.get(name))
      assert.deepStrictEqual(ofRow("waits/0"), {
        waiting: {
          type: "deferred",
          runId: "r",
          agent: "clerk",
          callId: "1",
          tool: "order",
          handle: { job: 7 },
          expiresAt: 2000
        },
        end: "deferred/a",
        isLate: true
      })
      // outside of a run
      yield* begun(call("z") as never)
      assert.deepInclude((ofRow("waits/1") as { readonly waiting: object }).waiting, { runId: "", agent: "" })
      yield* within(close("a"))
      assert.deepStrictEqual(ofRow("deferred/a"), { _tag: "Closed", at: 700, id: "", reason: "run-over" })
      const sending = settle(workflow, "run", "a", { id: "s", stored, exit: Exit.succeed("done") })
      assert.strictEqual(yield* Effect.provideService(sending, WorkflowEngine, one.engine), "run-over")
      // a run that goes on elsewhere closes nothing
      const left = replay({ taken: { isSo: true } })
      yield* Effect.provideService(deferring(left).close("b"), RunContext.Current, run("r"))
      assert.isFalse(rows.has("deferred/b"))
    })
)
