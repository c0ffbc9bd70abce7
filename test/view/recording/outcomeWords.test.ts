/** An outcome in words, and what an outcome has of runs that did not fail. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import * as Outcome from "../../../packages/view/src/recording/Outcome.ts"

const origin = { runId: "r", agent: "clerk", turn: 1 }
const recordingOf = (...events: ReadonlyArray<object>) =>
  Recording.fromEvents(events.map((event, index) => ({ ...origin, at: index * 10, ...event })))

const outcomeOf = (...events: ReadonlyArray<object>): Outcome.Outcome => {
  const found = Outcome.outcomeOf(recordingOf(...events))
  assert(found !== undefined)
  return found
}

const start = { type: "run-start", input: "Pay." }
const completed = { type: "run-completed", output: "Paid." }
const nothing = { healed: 0, tell: 0, lost: 0 }

describe("an outcome", () => {
  it("of a completed run has its input, its answer and its times [P1700]", () => {
    assert.deepStrictEqual(outcomeOf(start, { type: "turn-start" }, completed), {
      kind: "completed",
      agent: "clerk",
      runId: "r",
      input: "Pay.",
      answer: "Paid.",
      from: 0,
      to: 20,
      failures: nothing,
      spent: { tokens: 0, cost: 0 }
    })
  })

  it("has no input without a beginning, no answer without an output, and the latest time [P1700]", () => {
    assert.deepStrictEqual(
      outcomeOf({ type: "turn-start", at: 70 }, { type: "turn-end", at: 90 }, { type: "turn-end", at: 80 }),
      {
        kind: "unfinished",
        agent: "clerk",
        runId: "r",
        from: 70,
        to: 90,
        failures: nothing,
        spent: { tokens: 0, cost: 0 }
      }
    )
    assert.strictEqual(outcomeOf(start, { type: "run-completed" }).answer, "")
    assert.strictEqual(outcomeOf({ ...start, input: { cents: 5 } }).input, '{"cents":5}')
  })

  it("has the events of the runs that its run has started in their order [P1700]", () => {
    const part = { runId: "part", parent: { runId: "r" } }
    const { events } = Recording.fromEvents(
      [
        start,
        { ...part, type: "run-start" },
        { type: "turn-start" },
        { ...part, type: "run-completed" },
        completed
      ].map((event, at) => ({ runId: "r", agent: "clerk", turn: 1, at, ...event }))
    )
    assert.deepStrictEqual(Outcome.eventsOf({ events }, "r"), events)
  })

  it("of an interrupted run says which calls had not ended [P1701]", () => {
    const call = (callId: string, type: string, fields: object = {}) => ({
      type,
      callId,
      tool: `tool-${callId}`,
      ...fields
    })
    const { fatal } = outcomeOf(
      start,
      ...["a", "b", "c", "d", "e"].map((id) => call(id, "tool-start", { arguments: { id } })),
      call("a", "tool-end"),
      call("b", "tool-denied"),
      call("c", "tool-skipped"),
      call("d", "tool-failed"),
      { type: "run-interrupted", turn: 2 }
    )
    assert.deepStrictEqual(fatal, {
      index: 10,
      tag: "Interrupted",
      message: 'tool-d {"id":"d"}, tool-e {"id":"e"} had not ended',
      path: ["clerk", "turn 2", 'tool-d {"id":"d"}'],
      agent: "clerk",
      tool: "tool-d",
      why: "interrupted",
      reason: "the caller of the run has stopped it",
      mayHaveHappened: false,
      passed: 0
    })
    const unsafe = outcomeOf(
      call("a", "tool-start"),
      { type: "tool-start", callId: "b", sideEffects: "unsafe" },
      { type: "run-interrupted" }
    )
    assert.deepInclude(unsafe.fatal, { message: "tool-a, ? had not ended", mayHaveHappened: true })
    assert.deepStrictEqual(outcomeOf({ type: "run-interrupted", turn: 0 }).fatal, {
      index: 0,
      tag: "Interrupted",
      message: "",
      path: ["clerk"],
      agent: "clerk",
      why: "interrupted",
      reason: "the caller of the run has stopped it",
      mayHaveHappened: false,
      passed: 0
    })
  })

  it("of a failed run counts the calls that its failure has passed [P1701]", () => {
    const error = { name: "Busy", message: "later" }
    const wrapped = { _tag: "ExecutionError", message: "failed", cause: error }
    const inner = { runId: "child", agent: "bank", parent: { runId: "r", callId: "c" } }
    const passed = (...events: ReadonlyArray<object>) => outcomeOf(start, ...events).fatal?.passed
    const toolFailed = (callId: string, error: object) => ({
      type: "tool-failed",
      callId,
      tool: "pay",
      attempt: 1,
      error
    })
    assert.strictEqual(passed(toolFailed("c", error), { type: "run-failed", error }), 1)
    assert.strictEqual(
      passed(
        { ...inner, ...toolFailed("d", error) },
        { ...inner, type: "run-failed", error },
        toolFailed("c", wrapped),
        { type: "run-failed", error: wrapped }
      ),
      2
    )
    // a limit has an error of its own
    const limit = { _tag: "BudgetExceededError", reason: "maxTurns" }
    assert.strictEqual(passed({ type: "budget-exceeded", reason: "maxTurns" }, { type: "run-failed", error: limit }), 0)
  })

  it("is that of the run that failed, else of the first one; each outermost run has one [P1700]", () => {
    const run = (runId: string, type: string) => [
      { ...start, runId },
      { type, runId }
    ]
    const child = { ...start, runId: "child", parent: { runId: "a" } }
    const recording = recordingOf(
      ...run("a", "run-completed"),
      child,
      ...run("b", "run-failed"),
      ...run("c", "run-failed")
    )
    assert.strictEqual(Outcome.outcomeOf(recording)?.runId, "b")
    assert.strictEqual(
      Outcome.outcomeOf(recordingOf(...run("a", "run-completed"), ...run("d", "turn-end")))?.runId,
      "a"
    )
    assert.deepStrictEqual(
      Outcome.outcomesOf(recording).map(({ kind, runId }) => [runId, kind]),
      [
        ["a", "completed"],
        ["b", "failed"],
        ["c", "failed"]
      ]
    )
    assert.lengthOf(Outcome.eventsOf(recording, "a"), 3)
    assert.deepStrictEqual(Outcome.eventsOf(recording, "none"), [])
    // without an outermost run, the first one stands for it
    assert.deepStrictEqual(
      Outcome.outcomesOf(recordingOf(child, { ...child, runId: "other" })).map(({ runId }) => runId),
      ["child"]
    )
  })

  it("knows what was spent as far as attempts report it [P1704]", () => {
    const usage = (cost?: number) => ({
      type: "model-end",
      entry: { usage: { inputTokens: 5, outputTokens: 2 }, cost }
    })
    assert.deepStrictEqual(
      outcomeOf(usage(0.5), { type: "model-failed", entry: { usage: { inputTokens: 1 }, cost: 1 } }).spent,
      {
        tokens: 8,
        cost: 1.5
      }
    )
    assert.deepStrictEqual(outcomeOf(usage(0.5), usage()).spent, { tokens: 14, cost: undefined })
    assert.deepStrictEqual(outcomeOf({ type: "model-end" }, { type: "model-failed" }).spent, {
      tokens: undefined,
      cost: undefined
    })
  })
})

describe("an outcome in words", () => {
  const of = (fields: Partial<Outcome.Outcome>): Outcome.Outcome => ({ ...outcomeOf(start, completed), ...fields })
  const fatal: Outcome.Fatal = {
    index: 0,
    tag: "Busy",
    message: "later",
    path: ["clerk", "turn 1"],
    agent: "clerk",
    why: "no-row",
    reason: "pay has no row for Busy",
    mayHaveHappened: false,
    passed: 0
  }

  it("says how many failures were healed, told to the model, and lost [P1700]", () => {
    const words = [
      nothing,
      { healed: 1, tell: 0, lost: 0 },
      { healed: 2, tell: 0, lost: 0 },
      { healed: 0, tell: 0, lost: 1 },
      { healed: 1, tell: 2, lost: 0 },
      { healed: 1, tell: 2, lost: 3 }
    ].map((failures) => Outcome.failureWords(of({ failures })))
    assert.deepStrictEqual(words, [
      "",
      "1 failure, healed",
      "2 failures, all healed",
      "1 failure: 0 healed, 1 lost",
      "3 failures: 1 healed, 2 told to the model",
      "6 failures: 1 healed, 2 told to the model, 3 lost"
    ])
  })

  it("says what was spent in money, else in tokens, else that it is not known [P1704]", () => {
    const words = [
      { tokens: 5, cost: 0.5 },
      { tokens: 1, cost: undefined },
      { tokens: undefined, cost: undefined }
    ].map((spent) => Outcome.spentWords(of({ spent })))
    assert.deepStrictEqual(words, ["$0.5", "1 token, cost unknown", "spending unknown"])
  })

  it("is one sentence, with the sums of a run that did not fail [P1700]", () => {
    assert.strictEqual(Outcome.sentenceOf(of({})), "✓ Completed: clerk answered “Paid.” (10 ms; $0).")
    assert.strictEqual(
      Outcome.sentenceOf(of({ answer: "x".repeat(130), failures: { healed: 1, tell: 0, lost: 0 } })),
      `✓ Completed: clerk answered “${"x".repeat(119)}…” (10 ms; 1 failure, healed; $0).`
    )
    assert.strictEqual(Outcome.sentenceOf(outcomeOf(start)), "… No end: clerk (0 ms; $0).")
    assert.strictEqual(
      Outcome.sentenceOf(outcomeOf(start, { type: "run-suspended" })),
      "△ Waiting for approval: clerk (10 ms; $0)."
    )
  })

  it("is one sentence with the place and the reason of a failure [P1701]", () => {
    const failed = { kind: "failed", fatal } as const
    const behind = "Where: clerk › turn 1. Why: pay has no row for Busy."
    assert.strictEqual(Outcome.sentenceOf(of(failed)), `✕ Failed: Busy: later. ${behind}`)
    assert.strictEqual(
      Outcome.sentenceOf(of({ kind: "interrupted", fatal: { ...fatal, message: "", mayHaveHappened: true } })),
      `✕ Interrupted: Busy. ${behind} Its effect may have happened.`
    )
    const long = of({ ...failed, fatal: { ...fatal, message: "x".repeat(300) } })
    assert.strictEqual(Outcome.sentenceOf(long), `✕ Failed: Busy: ${"x".repeat(193)}…. ${behind}`)
  })

  it("is a title of 100 letters at most, with the error or the word of its kind [P1700]", () => {
    const titles = (["completed", "suspended", "unfinished"] as const).map((kind) => Outcome.titleOf(of({ kind })))
    assert.deepStrictEqual(titles, ["✓ Completed · clerk", "△ Waiting for approval · clerk", "… No end · clerk"])
    assert.strictEqual(Outcome.titleOf(of({ kind: "failed", fatal })), "✕ Busy · clerk")
    assert.strictEqual(Outcome.titleOf(of({ agent: "x".repeat(100) })), `✓ Completed · ${"x".repeat(85)}…`)
  })
})
