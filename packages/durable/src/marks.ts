/**
 * Finds out which events of a replay are new. A replay emits all events of the run again, in the same order within each run, call and type.
 * Runs and calls go on beside each other, so there is no order between them. Therefore this module counts the events of each type in each
 * run and call, and the characters of the texts.
 */
import type { AgentEvent } from "@kintsugi/core"

/** The model calls of a run: how many attempts have begun and ended, and the text of the last attempt. */
interface Attempts {
  begun: number
  ended: number
  text: string
  /** The number of characters of the thoughts of the last attempt. */
  thoughts: number
  /** The event with which the last attempt began. */
  first: AgentEvent.OfType<"model-start"> | undefined
  /** Whether the run continues a text that a crash has cut off, instead of writing it anew. */
  continues: boolean
  /** Whether a crash has cut off the text of the last attempt, and it is not decided yet whether the text is kept. */
  isCutOff: boolean
}

const none = (): Attempts => ({
  begun: 0,
  ended: 0,
  text: "",
  thoughts: 0,
  first: undefined,
  continues: false,
  isCutOff: false
})

/** The model calls that a replay has emitted: how many attempts have begun, and how many characters of the last one it has emitted. */
interface Seen {
  begun: number
  text: number
  thoughts: number
}

const unseen = (): Seen => ({ begun: 0, text: 0, thoughts: 0 })

const ofKey = <A>(map: Map<string, A>, key: string, make: () => A): A => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}

const keyOf = (event: AgentEvent.AgentEvent): string =>
  `${event.runId}\n${"callId" in event ? event.callId : ""}\n${event.type}`

type Delta = AgentEvent.OfType<"text-delta" | "reasoning-delta">

export const isDelta = (event: AgentEvent.AgentEvent): event is Delta =>
  event.type === "text-delta" || event.type === "reasoning-delta"

export class Marks {
  /** How many events were emitted so far in all replays, by run, call and type. */
  readonly #emitted = new Map<string, number>()
  readonly #attempts = new Map<string, Attempts>()
  /** How many events this replay has emitted, by run, call and type. */
  #seen = new Map<string, number>()
  #seenAttempts = new Map<string, Seen>()

  /** Starts the counts of a replay, which emits its events from the first one. */
  begin(): void {
    this.#seen = new Map()
    this.#seenAttempts = new Map()
  }

  /** Counts an event of a replay, and returns what is new of it; `undefined` if all of it was emitted before. */
  newOf(event: AgentEvent.AgentEvent): AgentEvent.AgentEvent | undefined {
    const { runId, type } = event
    // a replay does not repeat the work that emits progress, so progress is always new
    if (type === "tool-progress") return event
    const seen = ofKey(this.#seenAttempts, runId, unseen)
    if (isDelta(event)) return this.#restOf(event, seen)
    if (type === "model-start") seen.begun++
    if (type === "model-start" || type === "attempt-discarded") seen.text = seen.thoughts = 0
    const key = keyOf(event)
    const count = (this.#seen.get(key) ?? 0) + 1
    this.#seen.set(key, count)
    if (count <= (this.#emitted.get(key) ?? 0)) return undefined
    this.add(event)
    return event
  }

  /** Cuts a delta down to the characters that were not emitted before; `undefined` if there are none. */
  #restOf(event: Delta, seen: Seen): Delta | undefined {
    const { begun, ended, text, thoughts } = ofKey(this.#attempts, event.runId, none)
    // the end of this attempt was emitted in an earlier replay, so all of its deltas were
    if (seen.begun < begun || (begun > 0 && ended >= seen.begun)) return undefined
    const kind = event.type === "text-delta" ? "text" : "thoughts"
    const before = (kind === "text" ? text.length : thoughts) - seen[kind]
    seen[kind] += event.text.length
    if (before >= event.text.length) return undefined
    const rest = before > 0 ? { ...event, text: event.text.slice(before) } : event
    this.add(rest)
    return rest
  }

  /** Counts an event as emitted. */
  add(event: AgentEvent.AgentEvent): void {
    const attempts = ofKey(this.#attempts, event.runId, none)
    if (isDelta(event)) {
      if (event.type === "text-delta") attempts.text += event.text
      else attempts.thoughts += event.text.length
      return
    }
    const key = keyOf(event)
    this.#emitted.set(key, (this.#emitted.get(key) ?? 0) + 1)
    switch (event.type) {
      case "model-start":
        attempts.begun++
        attempts.first = event
        attempts.isCutOff = false
        return empty(attempts)
      case "attempt-discarded":
        return empty(attempts)
      case "model-end":
      case "model-failed":
      case "model-interrupted":
        attempts.ended = attempts.begun
    }
  }

  /** Notes whether a run would continue a text that a crash cuts off. */
  continues(runId: string, isSo: boolean): void {
    ofKey(this.#attempts, runId, none).continues = isSo
  }

  /** Which runs with deltas among these events would continue their text after a crash. */
  continuing(events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> {
    const runs = new Set(events.flatMap((event) => (isDelta(event) ? [event.runId] : [])))
    return [...runs].filter((runId) => this.#attempts.get(runId)?.continues === true)
  }

  /**
   * The events that retract the text of attempts without an end, unless these attempts are still at work. If a run continues its text, the
   * text stays until its model is called again.
   */
  cutOff(at: number, isAtWork: (runId: string) => boolean): ReadonlyArray<AgentEvent.AgentEvent> {
    return [...this.#attempts].flatMap(([runId, attempts]) => {
      const { begun, continues, ended, text, thoughts } = attempts
      if (begun === ended || (text === "" && thoughts === 0) || isAtWork(runId)) return []
      attempts.isCutOff = continues
      return continues ? [] : settlementOf(attempts, at, undefined)
    })
  }

  /** The text of a run that a crash cut off, if this replay has come to the attempt that wrote it. */
  cutOffOf(runId: string): string | undefined {
    return this.#cutOff(runId)?.text
  }

  #cutOff(runId: string): Attempts | undefined {
    const attempts = this.#attempts.get(runId)
    // a replay first emits the attempts before the one that was cut off
    return attempts?.isCutOff === true && this.#seenAttempts.get(runId)?.begun === attempts.begun ? attempts : undefined
  }

  /**
   * The event that says whether the text that a crash cut off is kept, as a part of the text `kept`, or discarded. Empty if no text was cut
   * off.
   */
  settlement(runId: string, at: number, kept: string | undefined): ReadonlyArray<AgentEvent.AgentEvent> {
    const attempts = this.#cutOff(runId)
    return attempts === undefined ? [] : settlementOf(attempts, at, kept)
  }

  /** Notes that an event has said what becomes of a text that was cut off. */
  settle({ runId, type }: AgentEvent.AgentEvent): void {
    const attempts = ofKey(this.#attempts, runId, none)
    attempts.isCutOff = false
    attempts.thoughts = 0
    if (type !== "attempt-continued") attempts.text = ""
  }
}

const empty = (attempts: Attempts): void => {
  attempts.text = ""
  attempts.thoughts = 0
}

const settlementOf = (
  { first, text }: Attempts,
  at: number,
  kept: string | undefined
): ReadonlyArray<AgentEvent.AgentEvent> => {
  if (first === undefined) return []
  const { agent, attempt, parent, runId, turn } = first
  const origin = { runId, agent, turn, at, attempt, ...(parent === undefined ? {} : { parent }) }
  return kept === undefined
    ? [{ type: "attempt-discarded", ...origin, text }]
    : [{ type: "attempt-continued", ...origin, kept }]
}
