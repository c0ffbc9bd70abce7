/** A run of a desk with a call that is healed, and one that ends it. */
import { Recording } from "@kintsugi/view"

const busy = { name: "Busy", message: "later" }
const call = (callId: string, tool: string) => ({ callId, tool })

/** A run of two turns: a call that is healed, one that fails and ends the run. Each event is a second after the one before. */
export const events = [
  { turn: 0, type: "run-start", input: "Go." },
  { turn: 1, type: "turn-start" },
  { turn: 1, type: "model-start", model: "m", provider: "p", attempt: 1 },
  { turn: 1, type: "model-end", model: "m", attempt: 1, reply: { content: [] } },
  { turn: 1, ...call("a", "look"), type: "tool-start", arguments: { id: 1 } },
  { turn: 1, ...call("a", "look"), type: "tool-failed", attempt: 1, error: busy },
  {
    turn: 1,
    ...call("a", "look"),
    type: "verdict",
    layer: "tool",
    tag: "Busy",
    verdict: "retry",
    attempt: 1,
    delay: 0
  },
  {
    turn: 1,
    ...call("a", "look"),
    type: "tool-end",
    use: { settlement: { kind: "result", text: "seen" }, attempts: 2 }
  },
  { turn: 1, type: "turn-end" },
  { turn: 2, type: "turn-start" },
  { turn: 2, ...call("b", "pay"), type: "tool-start", arguments: { cents: 5 } },
  { turn: 2, ...call("b", "pay"), type: "tool-failed", attempt: 1, error: { name: "Declined", message: "no" } },
  { turn: 2, type: "run-failed", error: { name: "Declined", message: "no" } }
]

export const recordingOf = (all: ReadonlyArray<object> = events) =>
  Recording.fromEvents(all.map((event, index) => ({ runId: "r", agent: "desk", at: index * 1000, ...event })))
