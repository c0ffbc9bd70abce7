/** Events of one run, for statistics. */
import { Recording, Stats } from "@kintsugi/view"

export const at = { agent: "clerk", turn: 1, at: 0 }

/** Events of one run, as they stand in a file. */
export const eventsOf = (runId: string, ...said: ReadonlyArray<object>) => said.map((one) => ({ runId, ...at, ...one }))

export const call = (callId: string, tool = "search") => ({ callId, tool })
export const verdict = (layer: string, tag: string, verdict: string, attempt: number, delay = 0) => ({
  type: "verdict",
  layer,
  tag,
  verdict,
  attempt,
  delay,
  rung: 0
})
export const gaveUp = (event: object) => ({ ...event, gaveUp: true })
export const ended = (kind: string) => ({ type: "tool-end", use: { settlement: { kind, text: "" }, attempts: 1 } })
export const failed = { type: "tool-failed", attempt: 1, error: { name: "Busy" } }

/** A booked attempt of a model. */
export const entry = (outcome: string, inputTokens: number, cost?: number) => ({
  purpose: "agent",
  outcome,
  usage: { inputTokens, outputTokens: 0 },
  ...(cost === undefined ? {} : { cost })
})

export const statsOf = (...events: ReadonlyArray<object>) => Stats.of(Recording.fromEvents(eventsOf("r", ...events)))
