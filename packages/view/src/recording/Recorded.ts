/** Events in the JSON form in which files store them. */
import type * as AgentEvent from "@kintsugi/core/AgentEvent"

type Origin = Pick<AgentEvent.AgentEvent, "agent" | "at" | "parent" | "runId" | "turn">

/** An event in its JSON form, as `AgentEvent.AgentEvent` encodes it. Every event has its origin and its type. */
export interface Recorded extends Origin {
  readonly type: string
  readonly [field: string]: unknown
}

/** The types of events that this version knows. */
export const types: ReadonlySet<string> = new Set<AgentEvent.AgentEvent["type"]>([
  "run-start",
  "skill-chosen",
  "turn-start",
  "turn-prepared",
  "model-start",
  "request-adapted",
  "model-end",
  "model-failed",
  "model-interrupted",
  "text-delta",
  "reasoning-delta",
  "attempt-discarded",
  "attempt-continued",
  "compacted",
  "not-compacted",
  "tool-start",
  "arguments-coerced",
  "tool-progress",
  "tool-changed",
  "tool-waiting",
  "tool-result",
  "result-put-aside",
  "result-cut",
  "parts-described",
  "tool-denied",
  "tool-skipped",
  "tool-compensated",
  "tool-failed",
  "fix-start",
  "fix-end",
  "fix-failed",
  "tool-end",
  "approval-requested",
  "approval-decided",
  "approval-expired",
  "verdict",
  "turn-end",
  "output-coerced",
  "output-rejected",
  "events-lost",
  "guardrail",
  "message-queued",
  "message-read",
  "message-returned",
  "budget-warning",
  "budget-exceeded",
  "run-completed",
  "run-suspended",
  "run-failed",
  "run-interrupted"
])

/**
 * Whether an event ends its run, or this part of a run that is suspended. It does what `AgentEvent.isTerminal` does, for the JSON form: the
 * script of a page must not load the schemas of `AgentEvent`.
 */
export const isTerminal = ({ type }: Recorded): boolean =>
  type === "run-completed" || type === "run-failed" || type === "run-interrupted" || type === "run-suspended"
