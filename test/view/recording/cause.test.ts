/** The deepest cause of a failed run, and the way to it. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { callLine, causesOf, pathOf, stepsTo } from "../../../packages/view/src/recording/cause.ts"
import { runsOf } from "../../../packages/view/src/recording/runs.ts"

const call = { callId: "c", tool: "pay" }
const busy = { _tag: "Busy", message: "later" }
const other = { _tag: "Other", message: "later" }
const toolFailed = { ...call, type: "tool-failed", attempt: 1, error: busy }
const modelFailed = { type: "model-failed", model: "m", attempt: 1, error: busy }
const failed = (error: unknown) => ({ type: "run-failed", error })

/** The indices of the steps to the cause of the first run, and the path. */
const causeOf = (...events: ReadonlyArray<object>) => {
  const all = Recording.fromEvents(
    events.map((event, at) => ({ runId: "r", agent: "clerk", turn: 1, at, ...event }))
  ).events
  const [run] = runsOf(all)
  assert(run !== undefined)
  const steps = stepsTo(all, run)
  return { steps: steps.map(({ index }) => index), path: pathOf(all, steps), errors: steps.map(({ error }) => error) }
}

describe("the cause of a failed run", () => {
  it("is none while the run has no end [P1701]", () => {
    assert.deepStrictEqual(causeOf({ type: "run-start" }, toolFailed), { steps: [], path: [], errors: [] })
  })

  it("is the last event with the error of the run, else its end [P1701]", () => {
    const start = { ...call, type: "tool-start", arguments: { cents: 5 } }
    assert.deepStrictEqual(causeOf(start, toolFailed, toolFailed, failed(busy)), {
      steps: [2],
      path: ["clerk", "turn 1", 'pay {"cents":5}', "attempt 1 of 1"],
      errors: [busy]
    })
    assert.deepStrictEqual(causeOf(toolFailed, failed(other)), {
      steps: [1],
      path: ["clerk", "turn 1"],
      errors: [other]
    })
    // an event behind the end belongs to another part
    assert.deepStrictEqual(causeOf(failed(busy), modelFailed).steps, [0])
  })

  it("is an event of each kind that has the failure [P1701]", () => {
    const causes = { _tag: "Outer", message: "", cause: busy }
    assert.deepStrictEqual(causeOf(modelFailed, failed(causes)).path, ["clerk", "turn 1", "model m", "attempt 1 of 1"])
    assert.deepStrictEqual(causeOf({ ...modelFailed, model: undefined }, failed(busy)).path[2], "model ?")
    const fixer = { ...call, type: "fix-failed", error: busy }
    assert.deepStrictEqual(causeOf(fixer, failed(busy)).path, ["clerk", "turn 1", "pay", "fixer"])
    assert.deepStrictEqual(causeOf({ ...toolFailed, tool: undefined }, failed(busy)).path, [
      "clerk",
      "turn 1",
      "attempt 1 of 1"
    ])
    const rejected = { type: "output-rejected", text: "" }
    assert.deepStrictEqual(causeOf(rejected, failed({ _tag: "InvalidOutputError" })).path, [
      "clerk",
      "turn 1",
      "answer"
    ])
    assert.deepStrictEqual(causeOf(rejected, failed(busy)).steps, [1])
  })

  it("is the failed call that a raised error names, whose cause is another one [P1701]", () => {
    const raised = (callId: string) => failed({ _tag: "ToolExecutionError", message: "gave up", callId })
    assert.deepStrictEqual(causeOf(toolFailed, raised("c")).steps, [0])
    assert.deepStrictEqual(causeOf(toolFailed, raised("d")).steps, [1])
    assert.deepStrictEqual(causeOf(toolFailed, failed({ _tag: "Other", message: "gave up", callId: "c" })).steps, [1])
  })

  it("is the limit of the same reason, or the guardrail that blocked [P1701]", () => {
    const limit = failed({ _tag: "BudgetExceededError", reason: "maxTurns" })
    assert.deepStrictEqual(causeOf({ type: "budget-exceeded", reason: "maxTurns" }, limit).steps, [0])
    assert.deepStrictEqual(causeOf({ type: "budget-exceeded", reason: "maxCost" }, limit).steps, [1])
    assert.deepStrictEqual(
      causeOf({ type: "budget-exceeded", reason: "maxTurns" }, failed({ ...busy, reason: "maxTurns" })).steps,
      [1]
    )
    const guard = { type: "guardrail", guard: "no-cards", verdict: "block" }
    const blocked = failed({ _tag: "GuardrailError" })
    assert.deepStrictEqual(causeOf(guard, blocked).path, ["clerk", "turn 1", "guardrail no-cards"])
    assert.deepStrictEqual(causeOf({ ...guard, guard: undefined }, blocked).path[2], "guardrail ?")
    assert.deepStrictEqual(causeOf({ ...guard, verdict: "pass" }, blocked).steps, [1])
    assert.deepStrictEqual(causeOf(guard, failed(busy)).steps, [1])
  })

  it("of equal failures in a row is the last failed call, with the error of the run [P1701]", () => {
    const error = { _tag: "BudgetExceededError", reason: "repeatedFailure" }
    assert.deepStrictEqual(causeOf(toolFailed, toolFailed, modelFailed, failed(error)), {
      steps: [1],
      path: ["clerk", "turn 1", "pay", "attempt 1 of 1"],
      errors: [error]
    })
    assert.deepStrictEqual(causeOf(modelFailed, failed(error)).steps, [1])
  })

  it("is at the attempt of its call and turn, of the most that were made [P1701]", () => {
    const attempts = [
      { ...toolFailed, turn: 0, attempt: 9 },
      { ...toolFailed, callId: "d", attempt: 8 },
      { ...modelFailed, callId: "c", attempt: 7 },
      { ...toolFailed, attempt: 3, error: other },
      { ...toolFailed, attempt: undefined },
      { ...toolFailed, attempt: 2 }
    ]
    assert.deepStrictEqual(causeOf(...attempts, failed(busy)).path.at(-1), "attempt 2 of 3")
    assert.deepStrictEqual(causeOf({ ...toolFailed, attempt: undefined }, failed(busy)).path, [
      "clerk",
      "turn 1",
      "pay"
    ])
    assert.deepStrictEqual(causeOf({ ...toolFailed, turn: 0 }, { ...failed(busy), turn: 0 }).path, [
      "clerk",
      "pay",
      "attempt 1 of 1"
    ])
  })

  it("has the arguments of the call in its own turn or before [P1701]", () => {
    const start = (turn: number, id: number) => ({ ...call, turn, type: "tool-start", arguments: { id } })
    const path = (...starts: ReadonlyArray<object>) => causeOf(...starts, toolFailed, failed(busy)).path[2]
    assert.strictEqual(path(start(0, 1), start(1, 2), start(2, 3)), 'pay {"id":2}')
    assert.strictEqual(path({ ...start(1, 4), callId: "d" }), "pay")
  })
})

describe("a run that was started by a failed run", () => {
  const child = (...events: ReadonlyArray<object>) =>
    events.map((event) => ({ runId: "child", agent: "bank", parent: { runId: "r", callId: "c" }, ...event }))
  const wrapped = { _tag: "ExecutionError", message: "failed", cause: busy }

  it("is the cause if its error is in the failure of the call [P1701]", () => {
    const inner = child(modelFailed, failed(busy))
    const around = [{ ...toolFailed, error: wrapped }, failed(wrapped)]
    assert.deepStrictEqual(causeOf({ type: "run-start" }, ...inner, ...around).steps, [3, 1])
    assert.deepStrictEqual(causeOf({ type: "run-start" }, ...inner, ...around).path, [
      "clerk",
      "turn 1",
      "pay",
      "bank",
      "turn 1",
      "model m",
      "attempt 1 of 1"
    ])
    for (const inner of [
      child(modelFailed, failed(other)),
      child(modelFailed, { type: "run-interrupted", error: busy }),
      child(modelFailed),
      child({ ...failed(busy), parent: { runId: "r", callId: "d" } })
    ])
      assert.lengthOf(causeOf({ type: "run-start" }, ...inner, ...around).steps, 1)
    // a run that failed after the call is that of another call
    assert.lengthOf(causeOf({ type: "run-start" }, ...around, ...inner).steps, 1)
  })

  it("is the cause as the run of a fixer, or as a part of a composition [P1701]", () => {
    const fixer = { ...call, type: "fix-failed", error: busy }
    assert.deepStrictEqual(causeOf({ type: "run-start" }, ...child(failed(busy)), fixer, failed(busy)).steps, [2, 1])
    const part = { ...failed(busy), runId: "child", agent: "bank", parent: { runId: "r" } }
    assert.deepStrictEqual(causeOf({ type: "run-start" }, part, failed(wrapped)).steps, [2, 1])
    // a failed model call has started no run
    assert.deepStrictEqual(causeOf({ type: "run-start" }, part, modelFailed, failed(busy)).steps, [2])
  })
})

describe("the errors that an error carries", () => {
  it("are its causes, its original error, and its last eight attempts, last first [P1701]", () => {
    const numbered = (index: number) => ({ _tag: `T${index}`, message: "" })
    const error = {
      _tag: "A",
      message: "a",
      cause: { _tag: "B", message: "b", cause: busy },
      originalError: "text",
      attempts: Array.from({ length: 10 }, (_, index) => numbered(index))
    }
    assert.deepStrictEqual(
      [...causesOf(error)].map((key) => key.replace("\n", "|")),
      ["A|a", "B|b", "Error|text", ...[9, 8, 7, 6, 5, 4, 3, 2].map((index) => `T${index}|`), "Busy|later"]
    )
  })

  it("are 32 at most, each once, and none of nothing [P1701]", () => {
    assert.strictEqual(causesOf(undefined).size, 0)
    assert.strictEqual(causesOf(null).size, 0)
    assert.strictEqual(causesOf({ ...busy, cause: { ...busy, cause: busy } }).size, 1)
    const deep = Array.from({ length: 40 }).reduce<object | undefined>(
      (cause, _, index) => ({ _tag: `T${index}`, message: "", cause }),
      undefined
    )
    assert.strictEqual(causesOf(deep).size, 32)
  })
})

it("a call in short has its arguments as they are, in 80 letters [P1701]", () => {
  assert.strictEqual(callLine("pay", undefined), "pay")
  assert.strictEqual(callLine("pay", '{"cents":\n5'), 'pay {"cents": 5')
  assert.strictEqual(callLine("pay", { cents: 5 }), 'pay {"cents":5}')
  assert.strictEqual(callLine("pay", "x".repeat(90)), `pay ${"x".repeat(75)}…`)
})
