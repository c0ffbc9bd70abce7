/** Why no row has stopped a failure, in one clause. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { runsOf } from "../../../packages/view/src/recording/runs.ts"
import { type Explained, explain } from "../../../packages/view/src/recording/why.ts"

const call = { callId: "c", tool: "pay" }
const busy = { _tag: "Busy", message: "later" }
const toolFailed = { ...call, type: "tool-failed", attempt: 1, error: busy }
const modelFailed = { type: "model-failed", attempt: 1, error: busy }
const verdict = (fields: object) => ({ type: "verdict", layer: "tool", tag: "Busy", ...call, ...fields })

/** Explains the event with this index. */
const explained = (
  events: ReadonlyArray<object>,
  { error, index = 0, isDefect = false }: { index?: number; error?: unknown; isDefect?: boolean } = {}
): Explained => {
  const all = Recording.fromEvents(
    events.map((event, at) => ({ runId: "r", agent: "clerk", turn: 1, at, ...event }))
  ).events
  const [event, run] = [all[index], runsOf(all)[0]]
  assert(event !== undefined && run !== undefined)
  return explain(all, { run, index, event, error: error ?? event["error"] }, isDefect)
}

describe("why no row has stopped a failure", () => {
  it("is a limit with its amounts, in its unit [P1701]", () => {
    const limit = (fields: object) => explained([{ type: "budget-exceeded", ...fields }])
    assert.deepStrictEqual(limit({ reason: "maxTurns", spent: 12, limit: 12 }), {
      why: "limit",
      reason: "clerk reached its limit maxTurns (12 of 12)"
    })
    const reasons = [
      { reason: "maxCost", spent: 1.5, limit: 1 },
      { reason: "maxDuration", spent: 90_000, limit: 60_000 },
      { reason: "maxTurns", spent: 2 },
      { reason: "maxTurns", limit: 2 },
      {}
    ].map((fields) => limit(fields).reason.replace("clerk reached its limit ", ""))
    assert.deepStrictEqual(reasons, [
      "maxCost ($1.50 of $1.00)",
      "maxDuration (1 min 30 s of 1 min)",
      "maxTurns",
      "maxTurns",
      "?"
    ])
  })

  it("is a limit that only the error names, with the failure that came back [P1701]", () => {
    const error = { _tag: "BudgetExceededError", reason: "maxTurns", spent: 2, limit: 2 }
    assert.deepStrictEqual(explained([{ type: "run-failed", error }]), {
      why: "limit",
      reason: "it reached the limit maxTurns (2 of 2)"
    })
    const repeated = { ...error, reason: "repeatedFailure" }
    assert.strictEqual(
      explained([toolFailed], { error: repeated }).reason,
      "it reached the limit repeatedFailure (2 of 2): pay failed with Busy: later"
    )
    assert.strictEqual(
      explained([{ type: "run-failed" }], { error: repeated }).reason,
      "it reached the limit repeatedFailure (2 of 2)"
    )
    assert.strictEqual(explained([toolFailed], { error }).reason, "it reached the limit maxTurns (2 of 2)")
    const long = { ...toolFailed, error: { ...busy, message: "x".repeat(300) } }
    assert.strictEqual(
      explained([long], { error: repeated }).reason,
      `it reached the limit repeatedFailure (2 of 2)${`: pay failed with Busy: ${"x".repeat(300)}`.slice(0, 199)}…`
    )
  })

  it("is a guardrail, or answers that did not fit, by their number [P1701]", () => {
    const guardrail = { type: "guardrail", verdict: "block" }
    assert.deepStrictEqual(explained([{ ...guardrail, guard: "no-cards" }]), {
      why: "decided",
      reason: "the guardrail no-cards has blocked it"
    })
    assert.strictEqual(explained([guardrail]).reason, "the guardrail ? has blocked it")
    const rejected = { type: "output-rejected", text: "" }
    assert.deepStrictEqual(explained([rejected]), { why: "gave-up", reason: "1 answer did not fit the schema" })
    assert.strictEqual(explained([rejected, modelFailed, rejected]).reason, "2 answers did not fit the schema")
  })

  it("is a failure that was raised on purpose, if it ended the run itself [P1701]", () => {
    const error = { _tag: "ToolExecutionError", message: "raised" }
    assert.deepStrictEqual(explained([{ type: "run-failed", error }]), { why: "decided", reason: "it was raised" })
    assert.strictEqual(explained([{ ...toolFailed, error }]).why, "no-row")
  })

  it("is a missing row of a tool, of the model calls, or of the agent [P1701]", () => {
    const reasons = [toolFailed, modelFailed, { type: "run-failed", error: busy }].map((event) => explained([event]))
    assert.deepStrictEqual(reasons, [
      { why: "no-row", reason: "pay has no row for Busy" },
      { why: "no-row", reason: "the model calls of clerk have no row for Busy" },
      { why: "no-row", reason: "clerk has no row for Busy" }
    ])
  })

  it("is a defect, unless a row has decided about it [P1701]", () => {
    assert.deepStrictEqual(explained([toolFailed], { isDefect: true }), {
      why: "defect",
      reason: "it is a defect, which no row handles"
    })
    assert.strictEqual(explained([toolFailed, verdict({ verdict: "raise" })], { isDefect: true }).why, "decided")
  })

  it("is the last verdict about the same call, after the failure, and not of the transport [P1701]", () => {
    const decided: Explained = {
      why: "decided",
      reason: "the row of pay for Busy ends the run (raise)",
      verdict: "raise"
    }
    const raise = verdict({ verdict: "raise" })
    assert.deepStrictEqual(explained([toolFailed, verdict({ verdict: "tell" }), raise]), decided)
    const others = [verdict({ verdict: "fix", layer: "transport" }), verdict({ verdict: "fix", callId: "d" })]
    assert.deepStrictEqual(explained([toolFailed, raise, ...others]), decided)
    assert.strictEqual(explained([raise, toolFailed], { index: 1 }).why, "no-row")
    const ofModel = { ...verdict({ verdict: "raise", layer: "model" }), callId: undefined }
    assert.strictEqual(
      explained([modelFailed, ofModel]).reason,
      "the row of the model calls of clerk for Busy ends the run (raise)"
    )
    assert.deepStrictEqual(explained([toolFailed, verdict({})]), {
      why: "decided",
      reason: "the row of pay for Busy ends the run (?)",
      verdict: "?"
    })
  })

  it("is a verdict that gave up, with what it has tried [P1701]", () => {
    const gaveUp = (fields: object) => explained([toolFailed, verdict({ gaveUp: true, ...fields })])
    assert.deepStrictEqual(gaveUp({ verdict: "fix", attempt: 1 }), {
      why: "gave-up",
      reason: "its fixer did not help",
      verdict: "fix"
    })
    const reasons = [
      { verdict: "retry" },
      { verdict: "retry", attempt: 0 },
      { verdict: "retry", attempt: 1 },
      { verdict: "retry", attempt: 2 },
      { verdict: "retry", attempt: 3 },
      { verdict: "retry", attempt: 4 },
      { verdict: "fallback", attempt: 2 },
      { verdict: "compact", attempt: 2 },
      { verdict: "ask", attempt: 2 },
      { verdict: "ask", attempt: 2, why: "no-approver" },
      { verdict: "retry", attempt: 2, why: "no-continuation" },
      { verdict: "retry", attempt: 2, why: "other" }
    ].map((fields) => gaveUp(fields).reason)
    assert.deepStrictEqual(reasons, [
      "its row does not retry it",
      "its row does not retry it",
      "its row does not retry it",
      "retried once, then gave up",
      "retried twice, then gave up",
      "retried 3 times, then gave up",
      "no other model was left",
      "the conversation could not be shortened enough",
      "its row gave up (ask)",
      "no person could be asked",
      "no model could go on from its text",
      "retried once, then gave up"
    ])
  })
})
