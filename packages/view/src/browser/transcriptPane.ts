/**
 * The part of the page that shows the transcript, and follows the selection. If the transcript is long, only the entries around the
 * selection are elements.
 */
import type { Scene } from "../scene/Scene.ts"
import { count } from "../text/Words.ts"
import { button, element, longText } from "./dom.ts"
import type { Store } from "./store.ts"

type Entry = Scene["transcript"][number]

/** How many entries are shown at first, and how many more a button shows. */
const page = 240
const more = 160

/** The most entries that are printed. */
const printed = 5000

export class TranscriptPane {
  readonly section: HTMLElement
  readonly #list = element("ol", { class: "entries" })
  readonly #earlier = button("", () => this.#grow(more, 0), { class: "more" })
  readonly #later = button("", () => this.#grow(0, more), { class: "more" })
  readonly #scroller = element("div", { class: "scroller", tabindex: -1 })
  readonly #store: Store
  #from = 0
  #to = 0
  /** Whether the transcript is about to be printed, so that all entries are shown in full. */
  #isPrinted = false

  constructor(store: Store, leave: () => void) {
    this.#store = store
    this.#scroller.append(this.#earlier, this.#list, this.#later)
    this.section = element(
      "section",
      { class: "transcript", "aria-labelledby": "transcript-title" },
      element("h2", { id: "transcript-title" }, "Transcript"),
      button("Skip to the table", leave, { class: "skip" }),
      this.#scroller
    )
    store.listen((change) => {
      if (change === "scene") this.draw()
      else if (change === "selection") this.#show()
    })
    addEventListener("beforeprint", () => this.#print(true))
    addEventListener("afterprint", () => this.#print(false))
    this.draw()
  }

  draw(): void {
    const { length } = this.#store.scene.transcript
    this.#from = Math.min(this.#from, Math.max(0, length - page))
    this.#to = Math.min(length, Math.max(this.#to, this.#from + page))
    this.#fill()
    this.#mark()
  }

  #print(isPrinted: boolean): void {
    this.#isPrinted = isPrinted
    if (isPrinted) {
      this.#from = 0
      this.#to = Math.min(printed, this.#store.scene.transcript.length)
    }
    this.#fill()
  }

  #grow(before: number, after: number): void {
    const first = this.#list.firstElementChild
    this.#from = Math.max(0, this.#from - before)
    this.#to = Math.min(this.#store.scene.transcript.length, this.#to + after)
    this.#fill()
    // scroll, so that the entry that the reader has read stays in its place
    if (before > 0 && first instanceof HTMLElement) this.#entryAt(Number(first.dataset["at"]))?.scrollIntoView()
  }

  #fill(): void {
    const { transcript } = this.#store.scene
    this.#list.replaceChildren(
      ...transcript.slice(this.#from, this.#to).map((entry, index) => this.#entry(entry, this.#from + index))
    )
    const unprinted = this.#isPrinted ? transcript.length - this.#to : 0
    if (unprinted > 0)
      this.#list.append(
        element(
          "li",
          { class: "entry" },
          `${count(unprinted, "later entry", "later entries")} not printed here: the page has all.`
        )
      )
    if (transcript.length === 0) this.#list.append(element("li", { class: "faint" }, "Nothing was said."))
    this.#earlier.textContent = `${this.#from.toLocaleString("en-US")} earlier entries: show some`
    this.#earlier.hidden = this.#from === 0
    const left = transcript.length - this.#to
    this.#later.textContent = `${left.toLocaleString("en-US")} later entries: show some`
    this.#later.hidden = left <= 0
  }

  #entry({ agent, depth, event, heading, speaker, text, tone }: Entry, at: number): HTMLElement {
    const title = button(heading, () => this.#store.select(this.#store.scene.itemOf[event], this, event), {
      class: "heading",
      "aria-pressed": "false"
    })
    const entry = element(
      "li",
      { class: `entry ${speaker} ${tone ?? ""} depth-${Math.min(depth, 4)}`, "data-at": at },
      title
    )
    if (depth > 0) entry.prepend(element("span", { class: "agent", dir: "auto" }, agent))
    if (text !== "") entry.append(longText(text, this.#isPrinted))
    return entry
  }

  /** Scrolls to the entry of the selected item. */
  #show(): void {
    const at = this.#wanted()
    if (at !== undefined && (at < this.#from || at >= this.#to)) {
      this.#from = Math.max(0, at - page / 2)
      this.#to = Math.min(this.#store.scene.transcript.length, this.#from + page)
      this.#fill()
    }
    const entry = this.#mark()
    if (entry === undefined || this.#store.by === this) return
    // scrolls within the box of the transcript, so that the page stays in its place
    const top = entry.offsetTop - this.#scroller.offsetTop
    const { clientHeight, scrollTop } = this.#scroller
    if (top < scrollTop || top + Math.min(entry.offsetHeight, 80) > scrollTop + clientHeight)
      this.#scroller.scrollTop = top - clientHeight / 3
  }

  #mark(): HTMLElement | undefined {
    for (const old of this.#list.querySelectorAll(".is-selected")) {
      old.classList.remove("is-selected")
      old.querySelector(".heading")?.setAttribute("aria-pressed", "false")
    }
    const at = this.#wanted()
    const entry = at === undefined ? undefined : this.#entryAt(at)
    entry?.classList.add("is-selected")
    entry?.querySelector(".heading")?.setAttribute("aria-pressed", "true")
    return entry
  }

  #entryAt(at: number): HTMLElement | undefined {
    const entry = this.#list.children[at - this.#from]
    return entry instanceof HTMLElement ? entry : undefined
  }

  /**
   * The index of the entry for the selection: of the last event of the item that has an entry, or else of the last entry before the item.
   */
  #wanted(): number | undefined {
    const { item, scene } = this.#store
    if (item === undefined || scene.transcript.length === 0) return undefined
    const { event: chosen } = this.#store
    const candidates =
      chosen !== undefined ? [chosen] : item.events.length === 0 ? [item.subject] : item.events.slice(-50).toReversed()
    for (const event of candidates) {
      const at = this.#before(event)
      if (scene.transcript[at]?.event === event) return this.#first(at)
    }
    return Math.max(0, this.#before(item.subject))
  }

  /** The index of the last entry of an event. If it has none, the last entry before the event. */
  #before(event: number): number {
    const { transcript } = this.#store.scene
    let [low, high] = [0, transcript.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((transcript[middle]?.event ?? 0) <= event) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The index of the first entry of the same event. */
  #first(at: number): number {
    const { transcript } = this.#store.scene
    let first = at
    while (first > 0 && transcript[first - 1]?.event === transcript[at]?.event) first--
    return first
  }
}
