/** The marks of a run: each event that is no part of a span has one, in the lane of what it is about. */
import { assert, describe, it } from "@effect/vitest"
import { linesOf } from "./_support/lines.ts"

const of = { runId: "r", agent: "clerk", turn: 1 }
const error = { _tag: "Busy", message: "busy" }

type Fields = { readonly type: string; readonly [field: string]: unknown }

/** An event of a run with a turn and a model call at work, and the mark that it has there: lane, tone and label. */
const cases = (): ReadonlyArray<readonly [event: Fields, mark: string]> => [
  [{ type: "attempt-discarded", attempt: 2, text: "so" }, "model lost: attempt 2 does not count"],
  [{ type: "attempt-discarded" }, "model lost: attempt ? does not count"],
  [
    { type: "attempt-discarded", attempt: 2, text: "so", discardedRunId: "part" },
    "run lost: what a part said does not count"
  ],
  [{ type: "attempt-continued", attempt: 1, kept: "so" }, "model mended: the model goes on from what it has said"],
  [{ type: "compacted", compaction: "summary" }, "model mended: shortened by summary"],
  [{ type: "compacted" }, "model mended: shortened by ?"],
  [{ type: "not-compacted", compaction: "summary", why: "failed" }, "model note: not shortened by summary"],
  [{ type: "not-compacted" }, "model note: not shortened by ?"],
  [{ type: "request-adapted", family: "reasoning" }, "model note: request adapted to reasoning"],
  [{ type: "request-adapted" }, "model note: request adapted to ?"],
  [{ type: "output-coerced", change: { step: "unquote" } }, "turn mended: output read by unquote"],
  [{ type: "output-coerced" }, "turn mended: output read by ?"],
  [{ type: "output-rejected", message: { role: "user", content: [] } }, "turn tell: output does not fit"],
  [{ type: "output-rejected" }, "turn lost: output does not fit"],
  [{ type: "skill-chosen", skill: "refunds" }, "run note: skill refunds"],
  [{ type: "skill-chosen" }, "run note: skill ?"],
  [
    { type: "turn-prepared", model: "small", tools: ["pay", "look"] },
    "run note: the turn is prepared: model small, 2 tools"
  ],
  [{ type: "turn-prepared", model: "small" }, "run note: the turn is prepared: model small"],
  [{ type: "turn-prepared", tools: ["pay"] }, "run note: the turn is prepared: 1 tool"],
  [{ type: "turn-prepared", tools: [] }, "run note: the turn is prepared: 0 tools"],
  [{ type: "turn-prepared", prompt: "Be brief." }, "run note: the turn is prepared"],
  [{ type: "tool-changed", server: "shop", tool: "pay", action: "refuse" }, "run lost: shop has changed pay: refuse"],
  [{ type: "tool-changed", server: "shop", tool: "pay", action: "ask" }, "run note: shop has changed pay: ask"],
  [{ type: "tool-changed" }, "run note: a server has changed a tool: ?"],
  [{ type: "events-lost", transcript: [] }, "run lost: earlier events are gone"],
  [{ type: "guardrail", guard: "secrets", verdict: "block" }, "run lost: guardrail secrets: block"],
  [{ type: "guardrail", guard: "secrets", verdict: "replace" }, "run mended: guardrail secrets: replace"],
  [{ type: "guardrail", guard: "secrets", verdict: "pass" }, "run note: guardrail secrets: pass"],
  [{ type: "guardrail" }, "run note: guardrail ?: ?"],
  [{ type: "guardrail", guard: "g".repeat(99), verdict: "pass" }, `run note: guardrail ${"g".repeat(49)}…`],
  [{ type: "message-queued" }, "run asked: a message is said"],
  [{ type: "message-read" }, "run note: the message is read"],
  [{ type: "message-returned" }, "run lost: the message is not read"],
  [{ type: "budget-warning", reason: "maxTurns", limit: 5, spent: 4 }, "run note: budget: maxTurns 4 of 5 is near"],
  [
    { type: "budget-warning", reason: "maxCost", limit: 5, spent: 0.25 },
    "run note: budget: maxCost $0.25 of $5.00 is near"
  ],
  [{ type: "budget-warning", reason: "maxTurns", limit: 5 }, "run note: budget: maxTurns is near"],
  [{ type: "budget-warning", reason: "maxTurns", spent: 4 }, "run note: budget: maxTurns is near"],
  [{ type: "budget-warning" }, "run note: budget: a limit is near"],
  [
    { type: "budget-exceeded", reason: "maxTurns", limit: 5, spent: 5, action: "stop" },
    "run lost: budget: maxTurns 5 of 5 is reached: stop"
  ],
  [{ type: "budget-exceeded" }, "run lost: budget: a limit is reached: ?"],
  [
    { type: "parts-described", callId: "c1", tool: "look", model: "small" },
    "run note: small reads a description of a picture"
  ],
  [{ type: "parts-described", callId: "c1" }, "run note: the model reads a description of a picture"],
  [{ type: "tool-compensated", callId: "c1", tool: "pay" }, "tool note: pay is undone"],
  [{ type: "tool-compensated", callId: "c1" }, "tool note: tool is undone"],
  [{ type: "tool-compensated", callId: "c1", tool: "pay", error }, "tool lost: pay is not undone: Busy: busy"],
  [{ type: "tool-result", callId: "c9", tool: "pay" }, "run note: the result of pay has come"],
  [{ type: "tool-result" }, "run note: the result of tool has come"],
  [{ type: "verdict", layer: "model", tag: "Busy", verdict: "retry" }, "model mended: Busy → retry"],
  [{ type: "verdict", layer: "model", tag: "Busy", verdict: "retry", delay: 5 }, "model mended: Busy → retry in 5 ms"],
  [{ type: "verdict", layer: "agent", tag: "Busy", verdict: "raise" }, "run lost: Busy → raise"],
  // a wait of the whole run has no span: the run goes on below it
  [{ type: "verdict", layer: "agent", tag: "Busy", verdict: "retry", delay: 5 }, "run mended: Busy → retry in 5 ms"],
  [{ type: "verdict" }, "run mended: ? → ?"],
  [{ type: "of-another-version" }, "run note: of-another-version"],
  [{ type: "turn-of-another-version" }, "run note: turn-of-another-version"],
  [{ type: `of-another-version-${"x".repeat(40)}` }, `run note: of-another-version-${"x".repeat(20)}…`]
]

const start = { ...of, turn: 0, at: 0, type: "run-start", input: "go", transcript: [] }
const end = { ...of, at: 100, type: "run-completed", output: "" }

/** The line of a mark at the time 30. */
const line = (mark: string, index: number) => `${mark.replace(" ", " 30 ")} (${index}; ${index})`

describe("an event of a run [P1200 P1202]", () => {
  it("has a mark in the lane of what it is about, with what its fields say, and leaves the spans as they are", () => {
    for (const [event, mark] of cases()) {
      const lines = linesOf([
        start,
        { ...of, at: 10, type: "turn-start" },
        { ...of, at: 20, type: "model-start", model: "m", attempt: 1 },
        { ...of, at: 30, ...event },
        { ...of, at: 40, type: "model-end", attempt: 1 },
        { ...of, at: 50, type: "turn-end", message: { role: "assistant", content: [] } },
        end
      ])
      const spans = [
        "run 0-100 run ok: clerk (0,6; 6)",
        "turn 10-50 turn ok: turn 1 (1,5; 5)",
        "model 20-40 attempt ok: m (2,4; 4)"
      ]
      assert.sameMembers([...lines], [...spans, line(mark, 3)], JSON.stringify(event))
    }
  })

  it("has its mark in the lane of the run, if neither its turn nor its model call is recorded [P1215]", () => {
    for (const [event, mark] of cases()) {
      const layer = event.type === "tool-compensated" ? "tool" : "run"
      const own = line(mark.replace(/^\w+/, layer), 1)
      const run = "run 0-100 run ok: clerk (0,2; 2)"
      assert.sameMembers([...linesOf([start, { ...of, at: 30, ...event }, end])], [run, own], JSON.stringify(event))
    }
  })

  it("begins the run, if the start of the run is missing [P1215]", () => {
    for (const [event, mark] of cases()) {
      const isAfter = event.type === "tool-compensated"
      const own = line(mark.replace(/^\w+/, isAfter ? "tool" : "run"), 0)
      const run = isAfter ? [] : ["run 30-30 run unfinished: clerk (; 0)"]
      assert.sameMembers([...linesOf([{ ...of, at: 30, ...event }])], [...run, own], JSON.stringify(event))
    }
  })
})
