/** Runs a search over the events in small steps, and goes from match to match. */
import { Search } from "../scene/Search.ts"
import type { Store } from "./store.ts"

/** How long a step of the search may take, in milliseconds. */
const budget = 8

export class Searching {
  readonly #store: Store
  readonly #changed: () => void
  #texts: Array<string> = []
  #search: Search | undefined
  /** The index of the match that is selected. */
  #at = -1

  constructor(store: Store, changed: () => void) {
    this.#store = store
    this.#changed = changed
  }

  /** How many matches there are, and which of them is selected. */
  get says(): string {
    if (this.#search === undefined) return ""
    const many = this.#search.matches.length.toLocaleString("en-US")
    if (!this.#search.isDone) return `${many}…`
    if (this.#search.matches.length === 0) return "nothing found"
    return this.#at < 0 ? `${many} found` : `${this.#at + 1} of ${many}`
  }

  start(query: string): void {
    this.#at = -1
    this.#search = query.trim() === "" ? undefined : new Search(this.#store.events, query, this.#texts)
    if (this.#search === undefined) this.#store.match(undefined)
    else this.#run(this.#search)
    this.#changed()
  }

  /** Searches again, because there are other events. */
  renew(): void {
    // events are only added to a recording, except where it was drawn anew
    // Mutant `this.#texts.length >= this.#store.events.length` survives: only speed, because the texts are made anew
    if (this.#texts.length > this.#store.events.length) this.#texts = []
    if (this.#search !== undefined) this.start(this.#search.query)
  }

  #run(search: Search): void {
    // a search that was replaced ends here
    if (search !== this.#search) return
    const begun = performance.now()
    search.step(() => performance.now() - begun > budget)
    if (search.isDone) this.#store.match(new Set(search.matches))
    else setTimeout(() => this.#run(search))
    this.#changed()
  }

  /** Selects the next match, or the one before. */
  step(by: number): void {
    const matches = this.#search?.matches ?? []
    if (matches.length === 0) return
    this.#at = this.#at < 0 ? (by > 0 ? 0 : matches.length - 1) : (this.#at + by + matches.length) % matches.length
    this.#store.selectEvent(matches[this.#at] ?? 0)
    this.#changed()
  }
}
