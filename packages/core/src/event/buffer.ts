/** The latest events of a run, within limits, and the state that the dropped events led to. */
import { unlimited } from "../budget/Budget.ts"
import type * as Message from "../data/Message.ts"
import { quietly } from "../data/Foreign.ts"
import * as AgentEvent from "./AgentEvent.ts"
import { behind, isEnd, merge, type Numbered } from "./merging.ts"

/** How many events are kept, and how many bytes: about one for each character of their texts. */
export interface Limits {
  readonly events: number
  readonly bytes: number
}

interface Entry extends Numbered {
  readonly size: number
}

export class EventBuffer {
  #entries: Array<Entry | undefined> = []
  /** The index of the oldest event. The slots before it are empty, and are removed in batches. */
  #from = 0
  #size = 0
  /** Whether a model call has ended since deltas were merged. */
  #isMergeable = false
  #said: Array<Message.Message> = []
  #text = ""
  /** The number of the latest event. */
  latest = 0
  /** The last event that is gone, with its number. */
  gone: Numbered | undefined

  limits: Limits = { events: unlimited.maxBufferedEvents, bytes: unlimited.maxBufferedBytes }

  /** The run of all these events: that of the first one. Empty before it. */
  runId = ""

  push(event: AgentEvent.AgentEvent): void {
    if (this.latest === 0) this.runId = event.runId
    this.#add({ number: ++this.latest, event, size: this.#sizeOf(event) })
    if (isEnd(event)) this.#isMergeable = true
    if (this.#isOver() && this.#isMergeable) this.#merge()
    // the latest event always stays
    while (this.#isOver() && this.#from < this.#entries.length - 1) this.#drop()
    // Mutant `this.#from <= 1024` survives: speed only
    if (this.#from > 1024) this.#cut()
  }

  /** At most `most` events after a number. */
  after(number: number, most: number): ReadonlyArray<Numbered> {
    const found: Array<Numbered> = []
    for (let index = this.#indexAfter(number); index < this.#entries.length && found.length < most; index++) {
      const one = behind(this.#at(index), number)
      if (one !== undefined) found.push(one)
    }
    return found
  }

  /** The state that the dropped events led to; without dropped events, the state at the start of the run. */
  lost(): AgentEvent.OfType<"events-lost"> | undefined {
    const { event } = this.gone ?? this.#entries[0] ?? {}
    if (event === undefined) return undefined
    const { agent, at, turn } = event
    const isFirst = this.gone === undefined && event.type === "run-start"
    return {
      runId: this.runId,
      agent,
      turn,
      at,
      type: "events-lost",
      transcript: isFirst ? event.transcript : [...this.#said],
      ...(this.#text === "" ? {} : { text: this.#text })
    }
  }

  /** The event at an index. */
  #at(index: number): Entry {
    return this.#entries[index] as Entry
  }

  #sizeOf(event: AgentEvent.AgentEvent): number {
    return sizeOf(event, this.limits.bytes)
  }

  #isOver(): boolean {
    return this.#entries.length - this.#from > this.limits.events || this.#size > this.limits.bytes
  }

  #add(one: Entry): void {
    this.#entries.push(one)
    this.#size += one.size
  }

  #merge(): void {
    this.#isMergeable = false
    const merged = merge(this.#entries.slice(this.#from) as ReadonlyArray<Entry>)
    this.#entries = []
    this.#from = 0
    this.#size = 0
    for (const one of merged) this.#add({ ...one, size: this.#sizeOf(one.event) + 8 * (one.ends?.length ?? 0) })
  }

  #drop(): void {
    const one = this.#at(this.#from)
    this.#entries[this.#from++] = undefined
    this.#size -= one.size
    this.gone = one
    if (one.event.runId === this.runId) this.#note(one.event)
  }

  #note(event: AgentEvent.AgentEvent): void {
    this.#said = AgentEvent.saidAfter(this.#said, event)
    if (event.type === "text-delta") this.#text += event.text
    else if (event.type === "turn-start" || event.type === "turn-end" || event.type === "run-start") this.#text = ""
    else if (event.type === "attempt-continued") this.#text = event.kept
    else if (event.type === "attempt-discarded" && event.discardedRunId === undefined) this.#text = ""
  }

  #cut(): void {
    this.#entries = this.#entries.slice(this.#from)
    this.#from = 0
  }

  /** The first index of an event with a higher number. */
  #indexAfter(number: number): number {
    let [low, high] = [this.#from, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#at(middle).number <= number) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The size of an event without the transcript, which the run holds anyway. Foreign objects count as one value. Stops above `most`. */
const sizeOf = (event: AgentEvent.AgentEvent, most: number): number => {
  if (event.type === "text-delta" || event.type === "reasoning-delta") return each + event.text.length
  let size = 0
  const stack: Array<unknown> = [event]
  while (stack.length > 0 && size <= most) {
    const value = stack.pop()
    size += each
    if (typeof value === "string") size += value.length
    else if (ArrayBuffer.isView(value)) size += value.byteLength
    else if (isPlain(value))
      for (const [key, one] of quietly(() => Object.entries(value), [])) if (key !== "transcript") stack.push(one)
  }
  return size
}

const isPlain = (value: unknown): value is object =>
  typeof value === "object" &&
  // throws for null
  quietly(() => Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype, false)

/** The approximate size of a value besides its text. */
const each = 16
