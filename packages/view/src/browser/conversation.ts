/**
 * The conversation with the steps of recovery. All entries are in the page, so that the browser's own search finds them: they are made in
 * chunks while the browser has nothing else to do, and the browser lays out what is seen.
 */
import type { Scene } from "../scene/Scene.ts"
import { button, element } from "./Element.ts"
import { longText } from "./dom.ts"
import type { Store } from "./store.ts"

type Entry = Scene["transcript"][number]

/** How many entries a chunk has. */
const size = 25
/** About how high an entry is, in pixels. */
const height = 64

export class Conversation {
  readonly section: HTMLElement
  readonly #store: Store
  #chunks: Array<HTMLElement> = []
  /** The number of entries that each chunk shows now. */
  #filled: Array<number> = []
  readonly #body = element("div", { class: "chunks" })
  #shown: HTMLElement | undefined
  #isWaiting = false

  constructor(store: Store) {
    this.#store = store
    this.section = element(
      "section",
      { class: "view conversation", "aria-label": "Conversation", tabindex: -1 },
      this.#body
    )
    store.listen((change) => {
      if (change === "scene") this.renew()
      else if (change === "search") this.#dim()
      else if (change === "selection" || change === "view")
        this.#mark(store.view === "conversation" && store.by !== this)
    })
    this.renew()
  }

  /** Adds what has been said since, or makes all chunks anew if the recording is another one. */
  renew(): void {
    const { transcript } = this.#store.scene
    const many = Math.ceil(transcript.length / size)
    while (this.#chunks.length > many) this.#chunks.pop()?.remove()
    for (let at = this.#chunks.length; at < many; at++) {
      const chunk = element("ol", { class: "chunk" })
      chunk.style.setProperty("contain-intrinsic-size", `auto ${height * size}px`)
      this.#chunks.push(chunk)
      this.#body.append(chunk)
    }
    this.#filled = this.#chunks.map((_, at) => {
      const wanted = this.#wantedIn(at)
      return (this.#filled[at] ?? 0) === wanted ? wanted : 0
    })
    this.#later()
  }

  #wantedIn(chunk: number): number {
    return Math.min(size, this.#store.scene.transcript.length - chunk * size)
  }

  /** Fills the chunks while the browser is idle. */
  #later(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    requestIdleCallback((deadline) => {
      this.#isWaiting = false
      for (let at = 0; at < this.#chunks.length; at++) {
        if (this.#filled[at] === this.#wantedIn(at)) continue
        if (deadline.timeRemaining() < 4) return this.#later()
        this.#fill(at)
      }
      this.section.dataset["filled"] = String(this.#store.scene.transcript.length)
      this.#mark(false)
    })
  }

  #fill(chunk: number): void {
    const wanted = this.#wantedIn(chunk)
    if (this.#filled[chunk] === wanted) return
    const { transcript } = this.#store.scene
    this.#chunks[chunk]?.replaceChildren(
      ...transcript.slice(chunk * size, chunk * size + wanted).map((entry) => this.#entry(entry))
    )
    this.#filled[chunk] = wanted
  }

  #entry(entry: Entry): HTMLElement {
    const { agent, depth, event, heading, speaker, text, tone } = entry
    const made = element(
      "li",
      { class: `entry ${speaker} ${tone ?? ""} depth-${Math.min(depth, 4)}`, "data-event": event },
      button(heading, () => this.#store.selectEvent(event, this), { class: "heading", "aria-pressed": "false" })
    )
    if (depth > 0) made.prepend(element("span", { class: "agent", dir: "auto" }, agent))
    if (text !== "") made.append(longText(text))
    made.classList.toggle("is-dim", this.#store.matches?.has(event) === false)
    return made
  }

  #dim(): void {
    for (const entry of this.#body.querySelectorAll<HTMLElement>(".entry"))
      entry.classList.toggle("is-dim", this.#store.matches?.has(Number(entry.dataset["event"])) === false)
  }

  /** Marks the entry of the selection, and scrolls to it. */
  #mark(isScrolled: boolean): void {
    this.#shown?.classList.remove("is-selected")
    this.#shown?.querySelector(".heading")?.setAttribute("aria-pressed", "false")
    const at = this.#wanted()
    if (at === undefined) return
    if (isScrolled) this.#fill(Math.floor(at / size))
    const entry = this.#chunks[Math.floor(at / size)]?.children[at % size]
    if (!(entry instanceof HTMLElement)) return
    this.#shown = entry
    entry.classList.add("is-selected")
    entry.querySelector(".heading")?.setAttribute("aria-pressed", "true")
    if (isScrolled) entry.scrollIntoView({ block: "center" })
  }

  /** The index of the last entry that is not later than the selection; if its event has several entries, of the first of them. */
  #wanted(): number | undefined {
    const { scene, selectedEvent } = this.#store
    if (selectedEvent === undefined || scene.transcript.length === 0) return undefined
    let [low, high] = [0, scene.transcript.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((scene.transcript[middle]?.event ?? 0) <= selectedEvent) low = middle + 1
      else high = middle
    }
    let at = Math.max(0, low - 1)
    while (at > 0 && scene.transcript[at - 1]?.event === scene.transcript[at]?.event) at--
    return at
  }
}
