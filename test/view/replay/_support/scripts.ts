/** Scripts of recordings, from a few events each. */
import { Recording } from "@kintsugi/view"
import type { AgentScript, Attempt, Script } from "../../../../packages/view/src/replay/parts.ts"
import * as Scripts from "../../../../packages/view/src/replay/Script.ts"

export type Event = readonly [at: number, type: string, fields?: object]

export const recordingOf = (...events: ReadonlyArray<Event>) =>
  Recording.fromEvents(
    events.map(([at, type, fields]) => ({ runId: "r", agent: "desk", turn: 1, at: 1000 + at, type, ...fields }))
  )

export const scriptOf = (...events: ReadonlyArray<Event>): Script => {
  const made = Scripts.of(recordingOf(...events))
  if (!Scripts.isScript(made)) throw new Error(made.message)
  return made
}

export const refusalOf = (...events: ReadonlyArray<Event>): string | undefined => {
  const made = Scripts.of(recordingOf(...events))
  return Scripts.isScript(made) ? undefined : made.message
}

export const start: Event = [0, "run-start", { input: "go" }]
export const asked: Event = [0, "model-start", { attempt: 1 }]
export const reply = { content: [{ type: "text", text: "Done." }], usage: { inputTokens: 3, outputTokens: 4 } }
export const replied: Event = [5, "model-end", { reply }]
export const done: Event = [50, "run-completed", { output: "Done." }]
export const error = { _tag: "Busy", message: "later" }

/** The events of a run that asks its model once, with others behind the reply. */
export const run = (...events: ReadonlyArray<Event>): ReadonlyArray<Event> => [start, asked, replied, ...events]
export const agentOf = (...events: ReadonlyArray<Event>): AgentScript => scriptOf(...run(...events)).agents.at(-1)!
export const call = { callId: "c", tool: "pay" }
export const begun: Event = [10, "tool-start", { ...call, arguments: {} }]
export const ended = (at: number, text: string, attempts = 1, kind = "result"): Event => [
  at,
  "tool-end",
  { ...call, use: { settlement: { kind, text }, attempts } }
]
export const failed = (at: number, one: unknown = error): Event => [
  at,
  "tool-failed",
  { ...call, attempt: 1, error: one }
]
export const verdict = (at: number, fields: object = {}): Event => [
  at,
  "verdict",
  {
    ...call,
    layer: "tool",
    tag: "Busy",
    verdict: "tell",
    gaveUp: false,
    rung: 0,
    attempt: 1,
    delay: 0,
    error,
    ...fields
  }
]
export const attemptsOf = (...events: ReadonlyArray<Event>): ReadonlyArray<Attempt> | undefined =>
  agentOf(...events, done).tools[0]?.calls.get("c")

/** What an attempt without runs has besides its time. */
type Ended<A> = A extends unknown ? Omit<A, "after" | "runs" | "isInTurn"> : never

export const attempt = (after: number, end: Ended<Attempt>): Attempt => ({ after, runs: [], isInTurn: true, ...end })
export const gives = (after: number, text: string) => attempt(after, { type: "gives", text })
export const fails = (after: number) => attempt(after, { type: "fails", failure: { tag: "Busy", message: "later" } })
