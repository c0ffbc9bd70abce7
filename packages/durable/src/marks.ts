/**
 * Which events of a run are new. A replay emits all events of the run once more, in the same order within each run, call and type; lines of
 * work go on beside each other, so no order holds between them. The events of one kind in one place are therefore counted.
 */
import type { AgentEvent } from "@kintsugi/core"

/** The model calls of a run: how many attempts have begun and ended, and what was written of the last one. */
interface Attempts {
  begun: number
  ended: number
  deltas: number
  text: string
  /** The event with which the last attempt has begun. */
  first: AgentEvent.OfType<"model-start"> | undefined
}

const none = (): Attempts => ({ begun: 0, ended: 0, deltas: 0, text: "", first: undefined })

const ofKey = <A>(map: Map<string, A>, key: string, make: () => A): A => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}

const keyOf = (event: AgentEvent.AgentEvent): string =>
  `${event.runId}\n${"callId" in event ? event.callId : ""}\n${event.type}`

export const isDelta = (event: AgentEvent.AgentEvent): event is AgentEvent.OfType<"text-delta" | "reasoning-delta"> =>
  event.type === "text-delta" || event.type === "reasoning-delta"

export class Marks {
  /** How many events of each kind were emitted so far, in all replays. */
  readonly #emitted = new Map<string, number>()
  readonly #attempts = new Map<string, Attempts>()
  /** The same of this replay. */
  #seen = new Map<string, number>()
  #seenAttempts = new Map<string, Attempts>()

  /** A replay begins, from the top. */
  begin(): void {
    this.#seen = new Map()
    this.#seenAttempts = new Map()
  }

  /** An event of a replay: whether it is new. */
  isNew(event: AgentEvent.AgentEvent): boolean {
    const { runId, type } = event
    // work that emits it is not done again by a replay
    if (type === "tool-progress") return true
    const seen = ofKey(this.#seenAttempts, runId, none)
    if (isDelta(event)) {
      const { begun, deltas, ended } = ofKey(this.#attempts, runId, none)
      // the end of its attempt was emitted before
      if (seen.begun < begun || (begun > 0 && ended >= seen.begun)) return false
      if (++seen.deltas <= deltas) return false
      this.add(event)
      return true
    }
    if (type === "model-start") {
      seen.begun++
      seen.deltas = 0
    }
    const key = keyOf(event)
    const count = (this.#seen.get(key) ?? 0) + 1
    this.#seen.set(key, count)
    if (count <= (this.#emitted.get(key) ?? 0)) return false
    this.add(event)
    return true
  }

  /** Counts an event that was emitted. */
  add(event: AgentEvent.AgentEvent): void {
    const attempts = ofKey(this.#attempts, event.runId, none)
    if (isDelta(event)) {
      attempts.deltas++
      if (event.type === "text-delta") attempts.text += event.text
      return
    }
    const key = keyOf(event)
    this.#emitted.set(key, (this.#emitted.get(key) ?? 0) + 1)
    switch (event.type) {
      case "model-start":
        attempts.begun++
        attempts.deltas = 0
        attempts.text = ""
        attempts.first = event
        return
      case "model-end":
      case "model-failed":
      case "model-interrupted":
        attempts.ended = attempts.begun
    }
  }

  /** The events that retract what was written by attempts without an end, unless they are still at work. */
  cutOff(at: number, isAtWork: (runId: string) => boolean): ReadonlyArray<AgentEvent.AgentEvent> {
    return [...this.#attempts].flatMap(([runId, { begun, deltas, ended, first, text }]) => {
      if (first === undefined || begun === ended || deltas === 0 || isAtWork(runId)) return []
      const { agent, attempt, parent, turn } = first
      const origin = { runId, agent, turn, at, ...(parent === undefined ? {} : { parent }) }
      return { type: "attempt-discarded", ...origin, attempt, text } as const
    })
  }

  /** Such an event was written. */
  retract({ runId }: AgentEvent.AgentEvent): void {
    const attempts = ofKey(this.#attempts, runId, none)
    attempts.deltas = 0
    attempts.text = ""
  }
}
