/** All events of the recording as a list. Only rows near the screen are elements, and the arrow keys reach every row. */
import { errorLine } from "../recording/ErrorWords.ts"
import { asText, at, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { clip } from "../text/Words.ts"
import { timeOf } from "./clock.ts"
import { element } from "./Element.ts"
import { Rows } from "./rows.ts"
import type { Store } from "./store.ts"

export class EventList {
  readonly section: HTMLElement
  readonly #store: Store
  readonly #rows: Rows
  readonly #grid = element("div", { class: "events", role: "grid", "aria-label": "Events" })
  #current = 0

  constructor(store: Store, enter: () => void) {
    this.#store = store
    const body = element("div", { class: "rows", role: "rowgroup" })
    this.#rows = new Rows(this.#grid, body, (index) => this.#row(index))
    const head = element("div", { class: "row", role: "row", "aria-rowindex": 1 })
    for (const name of ["Nr.", "Time (UTC)", "Event", "Agent", "What"])
      head.append(element("div", { role: "columnheader" }, name))
    this.#grid.append(element("div", { class: "head", role: "rowgroup" }, head), body)
    this.section = element("section", { class: "view", "aria-label": "Events" }, this.#grid)
    this.#grid.addEventListener("keydown", (event) => this.#key(event, enter))
    body.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-at]") : null
      if (row !== null) this.#go(Number(row.dataset["at"]))
    })
    store.listen((change) => {
      if (change === "scene" || change === "search") this.renew()
      else if (change === "selection" || change === "view") this.#follow()
    })
  }

  focus(): void {
    this.#rows.reveal(this.#current)?.focus({ preventScroll: true })
  }

  renew(): void {
    const { length } = this.#store.events
    this.#grid.setAttribute("aria-rowcount", String(length + 1))
    this.#current = Math.min(this.#current, Math.max(0, length - 1))
    if (this.#store.view === "events") this.#rows.renew(length)
  }

  #row(index: number): HTMLElement {
    const event = this.#store.events[index]
    // Mutant `false` survives: the list has as many rows as there are events
    if (event === undefined) return element("div")
    const cells = [String(index), timeOf(event.at), event.type, `${event.agent} · ${event.turn}`, whatOf(event)]
    return element(
      "div",
      {
        class: `row${this.#store.matches?.has(index) === false ? " is-dim" : ""}${isBad(event) ? " is-lost" : ""}`,
        role: "row",
        "aria-rowindex": index + 2,
        "aria-selected": String(index === this.#store.selectedEvent),
        tabindex: index === this.#current ? 0 : -1,
        "data-at": index
      },
      ...cells.map((text) => element("div", { role: "gridcell", dir: "auto" }, text))
    )
  }

  #follow(): void {
    if (this.#store.view !== "events") return
    const { selectedEvent } = this.#store
    if (selectedEvent !== undefined) this.#current = selectedEvent
    this.#rows.renew(this.#store.events.length)
    if (this.#store.by !== this) this.#rows.reveal(this.#current, true)
  }

  #go(to: number): void {
    const next = Math.min(Math.max(0, to), this.#store.events.length - 1)
    if (next < 0) return
    this.#current = next
    this.#store.selectEvent(next, this)
    this.#rows.reveal(next)?.focus({ preventScroll: true })
  }

  #key(event: KeyboardEvent, enter: () => void): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.#go(this.#current + 1),
      ArrowUp: () => this.#go(this.#current - 1),
      PageDown: () => this.#go(this.#current + 20),
      PageUp: () => this.#go(this.#current - 20),
      Home: () => this.#go(0),
      End: () => this.#go(Infinity),
      Enter: enter
    }
    const act = acts[event.key]
    if (act === undefined) return
    event.preventDefault()
    event.stopPropagation()
    act()
  }
}

const isBad = ({ type }: Recorded): boolean => type.endsWith("-failed") || type === "budget-exceeded"

/** What an event is about, in one line. */
const whatOf = (event: Recorded): string => {
  const parts = [
    textAt(event, "tool") ?? textAt(event, "model"),
    event["error"] === undefined ? undefined : errorLine(event["error"], 160),
    textAt(event, "verdict"),
    textAt(event, "text") ?? textAt(event, "use", "settlement", "text"),
    at(event, "arguments") === undefined ? undefined : asText(event["arguments"]),
    event["input"] === undefined ? undefined : asText(event["input"])
  ]
  return clip(parts.filter((part) => part !== undefined).join(" · "), 200)
}
