/**
 * Searches the events of a recording, and not what a page happens to show of them.
 *
 * @internal
 */
import type { Recorded } from "../recording/Recorded.ts"

/** Fields that repeat what other events have. */
const repeated: ReadonlySet<string> = new Set(["ledger", "snapshot", "usage"])

/** The text of an event that a search reads, in lower case. */
export const textOf = (event: Recorded): string =>
  JSON.stringify(event, (key, value: unknown) => (repeated.has(key) ? undefined : value)).toLowerCase()

/** Finds the events that hold a text. The search runs in steps, so that a page stays responsive. */
export class Search {
  readonly query: string
  readonly matches: Array<number> = []
  readonly #events: ReadonlyArray<Recorded>
  readonly #texts: Array<string>
  readonly #wanted: string
  #next = 0

  /** `texts` keeps the text of each event for the next search of the same events. */
  constructor(events: ReadonlyArray<Recorded>, query: string, texts: Array<string>) {
    this.#events = events
    this.#texts = texts
    this.query = query
    // JSON has quotes and backslashes in texts escaped
    this.#wanted = JSON.stringify(query.trim()).slice(1, -1).toLowerCase()
  }

  get isDone(): boolean {
    return this.#next >= this.#events.length
  }

  /** Searches on until all events are read, or `isLate` says that it is time to pause. */
  step(isLate: () => boolean): void {
    while (!this.isDone) {
      const at = this.#next++
      const event = this.#events[at]
      // Mutant `false` survives: each index below the length has its event
      if (event === undefined) continue
      const text = (this.#texts[at] ??= textOf(event))
      if (text.includes(this.#wanted)) this.matches.push(at)
      if (at % 64 === 63 && isLate()) return
    }
  }
}
