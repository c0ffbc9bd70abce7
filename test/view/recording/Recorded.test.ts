/** The types of events that recordings have. */
import type { AgentEvent } from "@kintsugi/core"
import { assert, describe, it } from "@effect/vitest"
import { isTerminal, types } from "../../../packages/view/src/recording/Recorded.ts"

/** All types of events, which the compiler knows. */
const allTypes: Readonly<Record<AgentEvent.AgentEvent["type"], true>> = {
  "approval-decided": true,
  "approval-expired": true,
  "approval-requested": true,
  "arguments-coerced": true,
  "attempt-continued": true,
  "attempt-discarded": true,
  "budget-exceeded": true,
  "budget-warning": true,
  compacted: true,
  "events-lost": true,
  "fix-end": true,
  "fix-failed": true,
  "fix-start": true,
  guardrail: true,
  "message-queued": true,
  "message-read": true,
  "message-returned": true,
  "model-end": true,
  "model-failed": true,
  "model-interrupted": true,
  "model-start": true,
  "not-compacted": true,
  "output-coerced": true,
  "output-rejected": true,
  "parts-described": true,
  "reasoning-delta": true,
  "request-adapted": true,
  "result-cut": true,
  "result-put-aside": true,
  "run-completed": true,
  "run-failed": true,
  "run-interrupted": true,
  "run-start": true,
  "run-suspended": true,
  "skill-chosen": true,
  "text-delta": true,
  "tool-changed": true,
  "tool-compensated": true,
  "tool-denied": true,
  "tool-end": true,
  "tool-failed": true,
  "tool-progress": true,
  "tool-result": true,
  "tool-skipped": true,
  "tool-start": true,
  "tool-waiting": true,
  "turn-end": true,
  "turn-prepared": true,
  "turn-start": true,
  verdict: true
}

describe("the types of events", () => {
  it("are those of the library [P1200]", () => {
    assert.deepStrictEqual([...types].toSorted(), Object.keys(allTypes).toSorted())
  })

  it("have four that end a run, or a part of it [P1215]", () => {
    const ends = [...types].filter((type) => isTerminal({ type, runId: "r", agent: "a", turn: 1, at: 0 }))
    assert.deepStrictEqual(ends.toSorted(), ["run-completed", "run-failed", "run-interrupted", "run-suspended"])
  })
})
