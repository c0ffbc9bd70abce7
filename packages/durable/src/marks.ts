/**
 * Which events of a run are new. A replay emits all events of the run once more, in the same order within each run, call and type; lines of
 * work go on beside each other, so no order holds between them. The events of one kind in one place are therefore counted, and the characters
 * of the texts.
 */
import type { AgentEvent } from "@kintsugi/core"

/** The model calls of a run: how many attempts have begun and ended, and what was written of the last one. */
interface Attempts {
  begun: number
  ended: number
  text: string
  /** The characters of its thoughts. */
  thoughts: number
  /** The event with which the last attempt has begun. */
  first: AgentEvent.OfType<"model-start"> | undefined
  /** Whether the run goes on from a text that was cut off. */
  continues: boolean
  /** Whether a crash has cut off the text of the last attempt, which then goes on from it or replaces it. */
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

/** The attempt of a replay: how many have begun, and how many characters it has emitted. */
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
  /** How many events of each kind were emitted so far, in all replays. */
  readonly #emitted = new Map<string, number>()
  readonly #attempts = new Map<string, Attempts>()
  /** The same of this replay. */
  #seen = new Map<string, number>()
  #seenAttempts = new Map<string, Seen>()

  /** A replay begins, from the top. */
  begin(): void {
    this.#seen = new Map()
    this.#seenAttempts = new Map()
  }

  /** What is new of an event of a replay. */
  newOf(event: AgentEvent.AgentEvent): AgentEvent.AgentEvent | undefined {
    const { runId, type } = event
    // work that emits it is not done again by a replay
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

  /** The characters of a text that are new. */
  #restOf(event: Delta, seen: Seen): Delta | undefined {
    const { begun, ended, text, thoughts } = ofKey(this.#attempts, event.runId, none)
    // the end of its attempt was emitted before
    if (seen.begun < begun || (begun > 0 && ended >= seen.begun)) return undefined
    const kind = event.type === "text-delta" ? "text" : "thoughts"
    const before = (kind === "text" ? text.length : thoughts) - seen[kind]
    seen[kind] += event.text.length
    if (before >= event.text.length) return undefined
    const rest = before > 0 ? { ...event, text: event.text.slice(before) } : event
    this.add(rest)
    return rest
  }

  /** Counts an event that was emitted. */
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

  /** Notes whether a run goes on from a text that is cut off. */
  continues(runId: string, isSo: boolean): void {
    ofKey(this.#attempts, runId, none).continues = isSo
  }

  /** Which of these runs do. */
  continuing(events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> {
    const runs = new Set(events.flatMap((event) => (isDelta(event) ? [event.runId] : [])))
    return [...runs].filter((runId) => this.#attempts.get(runId)?.continues === true)
  }

  /**
   * The events that retract what was written by attempts without an end, unless they are still at work. The text of a run that continues it
   * stays until its model is asked again.
   */
  cutOff(at: number, isAtWork: (runId: string) => boolean): ReadonlyArray<AgentEvent.AgentEvent> {
    return [...this.#attempts].flatMap(([runId, attempts]) => {
      const { begun, continues, ended, text, thoughts } = attempts
      if (begun === ended || (text === "" && thoughts === 0) || isAtWork(runId)) return []
      attempts.isCutOff = continues
      return continues ? [] : settlementOf(attempts, at, undefined)
    })
  }

  /** The text of a run that was cut off, if its attempt begins anew in this replay. */
  cutOffOf(runId: string): string | undefined {
    return this.#cutOff(runId)?.text
  }

  #cutOff(runId: string): Attempts | undefined {
    const attempts = this.#attempts.get(runId)
    // a replay emits the attempts before it first
    return attempts?.isCutOff === true && this.#seenAttempts.get(runId)?.begun === attempts.begun ? attempts : undefined
  }

  /** The event that says what becomes of it: it is kept, as a part of a text, or discarded. */
  settlement(runId: string, at: number, kept: string | undefined): ReadonlyArray<AgentEvent.AgentEvent> {
    const attempts = this.#cutOff(runId)
    return attempts === undefined ? [] : settlementOf(attempts, at, kept)
  }

  /** Such an event was written. */
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
