/** What a reader is told first: how a run ended, where, why nothing stopped it, and what would have. */
import { assert, describe, it } from "@effect/vitest"
import * as RecoveryAdvice from "../../../packages/core/src/errors/RecoveryAdvice.ts"
import { Recording } from "@kintsugi/view"
import { Effect } from "effect"
import fc from "fast-check"
import { codeOf, errorPage, helpOf, rowFor } from "../../../packages/view/src/recording/Advice.ts"
import * as Outcome from "../../../packages/view/src/recording/Outcome.ts"
import { isTerminal } from "../../../packages/view/src/recording/Recorded.ts"
import { runs } from "../../_support/cases.ts"
import { mid } from "../_support/recorded.ts"
import { written } from "../_support/references.ts"
import { type Damage, damage, damaged, drawnRuns } from "../scene/_support/drawn.ts"

const origin = { runId: "r", agent: "clerk", turn: 1 }

/** The outcome of these events, a millisecond apart. */
const outcome = (...events: ReadonlyArray<object>): Outcome.Outcome => {
  const found = Outcome.outcomeOf(Recording.fromEvents(events.map((event, at) => ({ ...origin, at, ...event }))))
  assert(found !== undefined)
  return found
}

const fatal = (...events: ReadonlyArray<object>): Outcome.Fatal => {
  const found = outcome(...events).fatal
  assert(found !== undefined)
  return found
}

const start = { type: "run-start", input: "Pay." }
const call = { callId: "c", tool: "pay" }
const called = (sideEffects?: string) => ({ ...call, type: "tool-start", arguments: { cents: 5 }, sideEffects })
const toolFailed = (error: object, attempt = 1) => ({ ...call, type: "tool-failed", attempt, error })
const modelFailed = (error: object, attempt = 1) => ({ type: "model-failed", model: "m", attempt, error })
const verdict = (layer: string, tag: string, kind: string, attempt: number, gaveUp = false) => ({
  type: "verdict",
  layer,
  tag,
  verdict: kind,
  attempt,
  gaveUp,
  ...(layer === "tool" ? call : {})
})
const failed = (error: object, isDefect = false) => ({ type: "run-failed", error, isDefect })
const busy = { name: "Busy", message: "come back later" }
const network = { _tag: "NetworkError", message: "the connection was lost" }

describe("the outcome of a run", () => {
  it("names the error, the place and the reason of a failed run, and a row [P1700 P1701]", () => {
    const found = Outcome.outcomeOf(mid("mid-fail"))
    assert(found?.fatal !== undefined)
    assert.deepInclude(found, { kind: "failed", agent: "refund-desk", runId: "run-gx0ux1499c3in3z322cjzd" })
    assert.strictEqual(found.input, "Work through the 50 open refund requests of yesterday.")
    assert.deepStrictEqual(found.failures, { healed: 4, tell: 0, lost: 1 })
    assert.strictEqual(found.spent.tokens, 25_508)
    assert.closeTo(found.spent.cost ?? 0, 0.0646, 0.001)
    assert.deepInclude(found.fatal, {
      tag: "PaymentDeclined",
      message: "card issuer declined: insufficient merchant balance (acct_1Q2w, code 51)",
      path: ["refund-desk", "turn 12", 'refund {"id":"O-50","cents":99999}', "attempt 1 of 1"],
      why: "no-row",
      reason: "refund has no row for PaymentDeclined"
    })
    assert.strictEqual(found.fatal.row?.code, "Tool.onError({ PaymentDeclined: Recovery.tell() })")
    assert.deepInclude(mid("mid-fail").events[found.fatal.index], { type: "tool-failed", callId: "c12" })
    assert.strictEqual(Outcome.titleOf(found), "✕ PaymentDeclined · refund-desk")
    assert.strictEqual(
      Outcome.sentenceOf(found),
      '✕ Failed: PaymentDeclined: card issuer declined: insufficient merchant balance (acct_1Q2w, code 51). Where: refund-desk › turn 12 › refund {"id":"O-50","cents":99999} › attempt 1 of 1. Why: refund has no row for PaymentDeclined.'
    )
  })

  it("has the answer of a completed run, and what failed on the way [P1700]", () => {
    const found = Outcome.outcomeOf(mid("mid-ok"))
    assert.strictEqual(found?.kind, "completed")
    assert.isUndefined(found?.fatal)
    assert.isAbove(found?.answer?.length ?? 0, 0)
    assert.isAbove(found?.failures.healed ?? 0, 3)
    assert.match(Outcome.sentenceOf(found ?? outcome(start)), /^✓ Completed: refund-desk answered “.*failures/)
    const mended = Outcome.outcomeOf(written("mended"))
    assert.strictEqual(mended?.kind, "completed")
    assert.deepStrictEqual(mended?.failures, { healed: 3, tell: 0, lost: 0 })
  })

  it("tells waiting, interrupted and unfinished runs apart [P1700]", () => {
    assert.strictEqual(outcome(start).kind, "unfinished")
    assert.strictEqual(outcome(start, { type: "run-suspended" }).kind, "suspended")
    assert.match(Outcome.sentenceOf(outcome(start, { type: "run-suspended" })), /^△ Waiting for approval: clerk/)
    assert.strictEqual(outcome(start, { type: "run-suspended" }, start).kind, "unfinished")
    const stopped = outcome(start, called("unsafe"), { type: "run-interrupted" })
    assert.strictEqual(stopped.kind, "interrupted")
    assert.deepInclude(stopped.fatal ?? {}, {
      why: "interrupted",
      mayHaveHappened: true,
      path: ["clerk", "turn 1", 'pay {"cents":5}']
    })
    assert.isUndefined(Outcome.outcomeOf(Recording.fromEvents([])))
  })

  it.effect(
    "is told of every run, complete or damaged, and only of what its events say [P1700 P1701]",
    () =>
      Effect.map(drawnRuns, (recordings) =>
        fc.assert(
          fc.property(fc.constantFrom(...recordings), damage, (events, how) => {
            const recording = damaged(events, how)
            for (const one of Outcome.outcomesOf(recording)) {
              const own = Outcome.eventsOf(recording, one.runId)
              assert.isTrue(own.length > 0 && one.from <= one.to)
              assert.isTrue(Outcome.sentenceOf(one).startsWith(Outcome.signs[one.kind].sign))
              const ends = recording.events.filter((event) => event.runId === one.runId && isTerminal(event))
              if (ends.length === 0) assert.strictEqual(one.kind, "unfinished")
              assert.strictEqual(one.fatal !== undefined, one.kind === "failed" || one.kind === "interrupted")
              if (one.fatal === undefined) continue
              const { index, path, reason, row, why } = one.fatal
              const event = recording.events[index]
              assert.isTrue(event !== undefined && own.includes(event))
              assert.strictEqual(path[0], one.agent)
              assert.isAbove(reason.length, 0)
              if (row !== undefined) assert.include(["no-row", "gave-up"], why)
            }
          }),
          {
            numRuns: recordings.length + runs,
            examples: recordings.map((events): [typeof events, Damage] => [events, { kind: "none" }])
          }
        )
      ),
    120_000
  )
})

describe("why no row has stopped a failure", () => {
  it("is a missing row, of a tool or of the model calls [P1701]", () => {
    assert.deepInclude(fatal(start, called(), toolFailed(busy), failed(busy)), {
      why: "no-row",
      reason: "pay has no row for Busy"
    })
    assert.deepInclude(fatal(start, modelFailed(network), failed(network)), {
      why: "no-row",
      reason: "the model calls of clerk have no row for NetworkError",
      path: ["clerk", "turn 1", "model m", "attempt 1 of 1"]
    })
  })

  it("is a rung that gave up, or a row that ends the run [P1701]", () => {
    const retried = [toolFailed(busy, 1), verdict("tool", "Busy", "retry", 1), toolFailed(busy, 2)]
    const gaveUp = fatal(start, called(), ...retried, verdict("tool", "Busy", "retry", 2, true), failed(busy))
    assert.deepInclude(gaveUp, { why: "gave-up", reason: "retried once, then gave up" })
    assert.strictEqual(gaveUp.path.at(-1), "attempt 2 of 2")
    const raised = fatal(start, called(), toolFailed(busy), verdict("tool", "Busy", "raise", 1), {
      ...failed({ _tag: "ToolExecutionError", message: "gave up", callId: "c", cause: busy })
    })
    assert.deepInclude(raised, { tag: "Busy", why: "decided", reason: "the row of pay for Busy ends the run (raise)" })
    assert.isUndefined(raised.row)
  })

  it("is a limit, a guardrail, answers that did not fit, or a defect [P1701]", () => {
    const limit = { reason: "maxTurns", limit: 2, spent: 2 }
    assert.deepInclude(
      fatal(start, { type: "budget-exceeded", ...limit }, failed({ _tag: "BudgetExceededError", ...limit })),
      { why: "limit", reason: "clerk reached its limit maxTurns (2 of 2)" }
    )
    const repeats = { reason: "repeatedFailure", limit: 3, spent: 3 }
    const equal = [called(), toolFailed(busy), called(), toolFailed({ ...busy, message: "come back later, again" })]
    assert.deepInclude(fatal(start, ...equal, failed({ _tag: "BudgetExceededError", ...repeats })), {
      why: "limit",
      reason: "it reached the limit repeatedFailure (3 of 3): pay failed with Busy: come back later, again",
      index: 4,
      path: ["clerk", "turn 1", 'pay {"cents":5}', "attempt 1 of 1"],
      tool: "pay",
      passed: 0
    })
    const blocked = { type: "guardrail", guard: "no-cards", side: "input", verdict: "block" }
    assert.deepInclude(fatal(start, blocked, failed({ _tag: "GuardrailError", message: "blocked" })), {
      why: "decided",
      reason: "the guardrail no-cards has blocked it"
    })
    const rejected = { type: "output-rejected", text: "" }
    assert.deepInclude(fatal(start, rejected, rejected, failed({ _tag: "InvalidOutputError", message: "no" })), {
      why: "gave-up",
      reason: "2 answers did not fit the schema"
    })
    assert.deepInclude(fatal(start, failed({ name: "TypeError", message: "x is undefined" }, true)), {
      why: "defect",
      tag: "TypeError"
    })
  })

  it("is followed into the runs that a call has started [P1701]", () => {
    const child = { runId: "child", agent: "bank", turn: 2, parent: { runId: "r", callId: "c" } }
    const wrapped = { _tag: "ExecutionError", message: "failed", category: "llm", cause: network }
    const deep = [
      start,
      called("unsafe"),
      { ...child, ...start },
      { ...child, ...modelFailed(network) },
      { ...child, ...failed(network) },
      toolFailed(wrapped),
      failed(wrapped)
    ]
    assert.deepInclude(fatal(...deep), {
      index: 3,
      tag: "NetworkError",
      agent: "bank",
      tool: "pay",
      code: "KINTSUGI-NETWORK",
      page: "errors#networkerror",
      path: ["clerk", "turn 1", 'pay {"cents":5}', "bank", "turn 2", "model m", "attempt 1 of 1"],
      reason: "the model calls of bank have no row for NetworkError",
      mayHaveHappened: true
    })
    // a child that failed with something else is not the cause
    assert.deepInclude(fatal(...deep.slice(0, 5), toolFailed(busy), failed(busy)), { tag: "Busy", agent: "clerk" })
  })

  it("ends with runs that name each other as parents [P1701]", () => {
    const [one, other] = ["a", "b"].map((runId) => ({ ...origin, runId, parent: { runId: runId === "a" ? "b" : "a" } }))
    const found = Outcome.outcomesOf(
      Recording.fromEvents([one, other].map((event) => ({ ...event, at: 0, ...failed(busy) })))
    )
    assert.strictEqual(found.length, 1)
    assert.strictEqual(found[0]?.fatal?.tag, "Busy")
  })
})

describe("the row that would have gone on", () => {
  it("follows the advice of each error of the library, whose table it copies [P1702]", () => {
    for (const tag of RecoveryAdvice.tags) {
      assert.strictEqual(helpOf(tag), RecoveryAdvice.mostFor(tag).recovery, tag)
      assert.strictEqual(codeOf(tag), RecoveryAdvice.describe(tag).code, tag)
      assert.strictEqual(errorPage(tag), `errors#${tag.toLowerCase()}`)
      const stops = ["none", "escalate"].includes(RecoveryAdvice.mostFor(tag).recovery)
      for (const layer of ["model", "tool"] as const) {
        const row = rowFor({ layer, error: { _tag: tag }, sideEffects: "none", hasRetried: false })
        if (stops) assert.isUndefined(row, tag)
      }
    }
    assert.isUndefined(codeOf("Busy"))
    assert.isUndefined(codeOf("constructor"))
  })

  it("never repeats a tool that may have side effects, and tells the failures of a domain [P1702]", () => {
    const errors = [...RecoveryAdvice.tags.map((_tag) => ({ _tag })), busy, { name: "Not a name" }, network]
    for (const error of errors)
      for (const category of ["network", "server", "client", "unknown", "mcp", "validation"])
        for (const sideEffects of ["unsafe", undefined])
          for (const hasRetried of [false, true])
            assert.notInclude(
              rowFor({ layer: "tool", error: { ...error, category }, sideEffects, hasRetried })?.code ?? "",
              "retry"
            )
    const tool = { layer: "tool", hasRetried: false } as const
    assert.strictEqual(
      rowFor({ ...tool, error: network, sideEffects: "idempotent" })?.code,
      "Tool.onError({ NetworkError: Recovery.retry(Backoff.suggested()) })"
    )
    assert.strictEqual(
      rowFor({ ...tool, error: busy, sideEffects: "unsafe" })?.code,
      "Tool.onError({ Busy: Recovery.tell() })"
    )
    assert.strictEqual(
      rowFor({ ...tool, error: { name: "Not a name" }, sideEffects: "none" })?.code,
      'Tool.onError({ "Not a name": Recovery.tell() })'
    )
  })

  it("says whether an unsafe tool may have taken effect [P1702]", () => {
    const happened = (error: object, sideEffects: string | undefined) =>
      fatal(start, called(sideEffects), toolFailed(error), failed(error)).mayHaveHappened
    assert.isTrue(happened(busy, "unsafe"))
    assert.isFalse(happened(busy, "none"))
    assert.isFalse(happened(busy, undefined))
    assert.isFalse(happened({ _tag: "InvalidArgs", message: "no JSON" }, "unsafe"))
    assert.isFalse(happened({ _tag: "ApprovalExpiredError", message: "late" }, "unsafe"))
    assert.isFalse(happened({ _tag: "ToolTimeoutError", message: "late", tookEffect: false }, "unsafe"))
    assert.include(
      Outcome.sentenceOf(outcome(start, called("unsafe"), toolFailed(busy), failed(busy))),
      "Its effect may have happened."
    )
  })
})
