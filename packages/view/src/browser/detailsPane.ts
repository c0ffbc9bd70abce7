/** The part of the page that shows the details of the selected item. */
import * as Details from "../scene/Details.ts"
import { element, longText } from "./dom.ts"
import type { Store } from "./store.ts"

export class DetailsPane {
  readonly section = element("section", { class: "details", "aria-labelledby": "details-title", tabindex: -1 })
  readonly #store: Store
  readonly #leave: () => void

  constructor(store: Store, leave: () => void) {
    this.#store = store
    this.#leave = leave
    this.section.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return
      event.preventDefault()
      this.#leave()
    })
    store.listen((change) => {
      if (change !== "window") this.draw()
    })
    this.draw()
  }

  focus(): void {
    this.section.focus()
  }

  draw(): void {
    const { events, item, scene } = this.#store
    this.section.classList.toggle("is-empty", item === undefined)
    if (item === undefined) {
      this.section.replaceChildren(
        element("h2", { id: "details-title" }, "Details"),
        element("p", { class: "faint" }, "Choose something in the timeline, the transcript or the table.")
      )
      return
    }
    const { events: own, facts, texts, title } = Details.make(scene, events, item)
    const list = element("dl", { class: "facts" })
    for (const [name, text] of facts)
      list.append(element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, text)))
    this.section.replaceChildren(
      element("h2", { id: "details-title" }, title),
      list,
      ...texts.map(([name, text]) => element("div", { class: "text" }, element("h3", {}, name), longText(text))),
      this.#written(own)
    )
  }

  /** The events of the item as JSON. The text is made when the reader unfolds it. */
  #written(own: ReadonlyArray<number>): HTMLElement {
    const shown = own.slice(0, 50)
    const title =
      own.length > shown.length
        ? `The first 50 of ${own.length} events`
        : `${own.length} ${own.length === 1 ? "event" : "events"}`
    const fold = element("details", { class: "written" }, element("summary", {}, `${title} as written`))
    fold.addEventListener(
      "toggle",
      () => {
        for (const index of shown) fold.append(longText(JSON.stringify(this.#store.events[index], undefined, 2)))
      },
      { once: true }
    )
    return fold
  }
}
