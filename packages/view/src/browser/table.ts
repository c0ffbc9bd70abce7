/** All items of a scene as a table. Only visible rows are elements, but the arrow keys reach every row. */
import * as Details from "../scene/Details.ts"
import { endOf, type Mark, type Span, startOf } from "../scene/Shapes.ts"
import { duration, moment } from "../text/Words.ts"
import { element } from "./dom.ts"
import type { Store } from "./store.ts"

const rowHeight = 26
const spare = 12

export class Table {
  readonly section: HTMLElement
  readonly #body = element("tbody")
  readonly #table = element("table", { role: "grid", "aria-labelledby": "table-title" })
  readonly #scroller = element("div", { class: "scroller" })
  readonly #title = element("h2", { id: "table-title" })
  readonly #store: Store
  #order: ReadonlyArray<Span | Mark> = []
  #positionOf: Int32Array = new Int32Array()
  #current = 0
  #isDue = false

  constructor(store: Store, enter: () => void) {
    this.#store = store
    const head = element("tr", { "aria-rowindex": 1 })
    for (const name of ["At", "Lasts", "Agent", "Layer", "What", "Outcome"])
      head.append(element("th", { scope: "col" }, name))
    this.#table.append(element("thead", {}, head), this.#body)
    this.#scroller.append(this.#table)
    this.section = element("section", { class: "table", "aria-labelledby": "table-title" }, this.#title, this.#scroller)
    this.#scroller.addEventListener("scroll", () => this.#later(), { passive: true })
    this.#table.addEventListener("keydown", (event) => this.#key(event, enter))
    store.listen((change) => {
      if (change === "scene") this.renew()
      else if (change === "selection") this.#follow()
    })
  }

  focus(): void {
    this.section.scrollIntoView({ block: "nearest" })
    this.#reveal()
    this.#fill()
    this.#focusRow()
  }

  /** Sorts the items and shows them. Called when the table is in the page, and after new events. */
  renew(): void {
    const { items } = this.#store.scene
    this.#order = items.toSorted((one, other) => startOf(one) - startOf(other) || one.subject - other.subject)
    this.#positionOf = new Int32Array(items.length)
    this.#order.forEach(({ id }, position) => (this.#positionOf[id] = position))
    this.#title.textContent = `All ${items.length.toLocaleString("en-US")} items as a table`
    this.#table.setAttribute("aria-rowcount", String(items.length + 1))
    this.#current = Math.min(this.#current, Math.max(0, items.length - 1))
    this.#fill()
  }

  #later(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.#fill()
    })
  }

  #fill(): void {
    const hadFocus = this.#body.contains(document.activeElement)
    const { clientHeight, scrollTop } = this.#scroller
    const many = this.#order.length
    const first = Math.max(0, Math.min(many, Math.floor(scrollTop / rowHeight) - spare))
    const last = Math.min(many, first + Math.ceil((clientHeight || 300) / rowHeight) + 2 * spare)
    const positions = Array.from({ length: last - first }, (_, index) => first + index)
    // the row with the focus stays an element, even if it is not visible
    const isApart = hadFocus && (this.#current < first || this.#current >= last)
    this.#body.replaceChildren(
      spacer(first),
      ...positions.map((position) => this.#row(position)),
      spacer(many - last),
      ...(isApart ? [this.#row(this.#current)] : [])
    )
    if (hadFocus) this.#focusRow()
  }

  #row(position: number): HTMLElement {
    const { scene } = this.#store
    const item = this.#order[position]
    if (item === undefined) return element("tr")
    const lane = scene.lanes[item.lane]
    const agent = scene.tracks.find(({ id }) => id === lane?.track)?.agent ?? ""
    const isSelected = this.#store.selected === item.id
    const row = element(
      "tr",
      {
        "aria-rowindex": position + 2,
        "data-position": position,
        tabindex: position === this.#current ? 0 : -1,
        "aria-selected": String(isSelected),
        class: isSelected ? "is-selected" : undefined
      },
      element("td", { class: "number" }, moment(startOf(item) - scene.from)),
      element("td", { class: "number" }, item.shape === "span" ? duration(endOf(item) - startOf(item)) : ""),
      element("td", { dir: "auto" }, agent),
      element("td", {}, lane?.layer ?? ""),
      element("td", { dir: "auto" }, item.label),
      element("td", {}, Details.outcomeOf(item))
    )
    row.setAttribute("aria-label", Details.lineOf(scene, item))
    row.addEventListener("click", () => this.#choose(position))
    return row
  }

  #key(event: KeyboardEvent, enter: () => void): void {
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -Infinity,
      End: Infinity
    }
    const by = moves[event.key]
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault()
      this.#choose(this.#current)
      if (event.key === "Enter") enter()
      return
    }
    if (by === undefined) return
    event.preventDefault()
    this.#current = Math.max(0, Math.min(this.#order.length - 1, this.#current + by))
    this.#reveal()
    this.#fill()
    this.#focusRow()
  }

  #focusRow(): void {
    const row = this.#body.querySelector(`[data-position="${this.#current}"]`)
    if (row instanceof HTMLElement) row.focus({ preventScroll: true })
  }

  #choose(position: number): void {
    this.#current = position
    this.#store.select(this.#order[position]?.id, this)
  }

  #follow(): void {
    const { selected } = this.#store
    if (selected !== undefined) this.#current = this.#positionOf[selected] ?? 0
    if (this.#store.by !== this) this.#reveal()
    this.#fill()
  }

  #reveal(): void {
    const top = this.#current * rowHeight
    const { clientHeight, scrollTop } = this.#scroller
    if (top < scrollTop || top > scrollTop + clientHeight - 2 * rowHeight)
      this.#scroller.scrollTop = Math.max(0, top - clientHeight / 2)
  }
}

const spacer = (rows: number): HTMLElement => {
  const row = element("tr", { "aria-hidden": "true", class: "spacer" })
  row.style.height = `${rows * rowHeight}px`
  return row
}
