/**
 * The conversation with the steps of recovery. All of it is in the page, so that the browser's own search finds it. It is made in chunks
 * between other tasks, and the browser lays out what is seen. In a long conversation, a chunk is one text until the reader sees it, because
 * the elements of a page make every key slower.
 */
import { visible } from "../text/Escape.ts"
import type { Scene } from "../scene/Scene.ts"
import { button, element } from "./Element.ts"
import { longText } from "./dom.ts"
import type { Store } from "./store.ts"

type Entry = Scene["transcript"][number]

/** How many entries a chunk has. */
const size = 25
/** The most entries that are elements before the reader sees them. */
const most = 2000
/** How long one step of filling chunks takes, in milliseconds. */
const budget = 8
/** About how high an entry is, in pixels. */
const height = 64

/** A part of the conversation: the list, how many entries it shows, and whether they are elements. */
interface Chunk {
  readonly list: HTMLElement
  many: number
  isWhole: boolean
}

export class Conversation {
  readonly section: HTMLElement
  readonly #store: Store
  #chunks: Array<Chunk> = []
  readonly #body = element("div", { class: "chunks" })
  /** The chunks on the screen. */
  readonly #near = new Set<Element>()
  readonly #seen = new IntersectionObserver((changes) => {
    for (const { isIntersecting, target } of changes) this.#near[isIntersecting ? "add" : "delete"](target)
    this.#unfold()
  })
  #shown: HTMLElement | undefined
  #isWaiting = false
  #isWatched = false
  /** Whether the browser shows a match of its own search. It would lose the match if the text became elements. */
  #isFound = false

  constructor(store: Store) {
    this.#store = store
    this.section = element(
      "section",
      { class: "view conversation", "aria-label": "Conversation", tabindex: -1 },
      this.#body
    )
    this.section.addEventListener("beforematch", () => {
      this.#isFound = true
      store.look("conversation")
    })
    for (const type of ["wheel", "pointerdown", "keydown"])
      this.section.addEventListener(
        type,
        () => {
          this.#isFound = false
          this.#unfold()
        },
        // Mutants `{}`, `false` survive: only speed, because the browser does not wait for the listener before it scrolls
        { passive: true }
      )
    store.listen((change) => {
      if (change === "scene") this.#later()
      // Mutant `true` survives: it does nothing while the view stays
      if (change === "view") this.#watch()
      if (change === "search") this.#dim()
      else if (change === "selection" || change === "view")
        this.#mark(store.view === "conversation" && store.by !== this)
    })
    this.#later()
  }

  /** Makes a list for each chunk that has none yet. */
  #make(): void {
    const many = Math.ceil(this.#store.scene.transcript.length / size)
    for (const { list } of this.#chunks.splice(many)) {
      this.#seen.unobserve(list)
      list.remove()
    }
    while (this.#chunks.length < many) {
      const list = element("ol", { class: "chunk" })
      list.style.setProperty("contain-intrinsic-size", `auto ${height * size}px`)
      this.#chunks.push({ list, many: 0, isWhole: false })
      this.#body.append(list)
      if (this.#isWatched) this.#seen.observe(list)
    }
  }

  /** Looks for chunks on the screen only while the conversation is shown, because looking takes time with each frame. */
  #watch(): void {
    const isWatched = this.#store.view === "conversation"
    if (isWatched === this.#isWatched) return
    this.#isWatched = isWatched
    this.#near.clear()
    this.#seen.disconnect()
    if (isWatched) for (const { list } of this.#chunks) this.#seen.observe(list)
  }

  #entriesOf(chunk: number): ReadonlyArray<Entry> {
    return this.#store.scene.transcript.slice(chunk * size, (chunk + 1) * size)
  }

  /** Fills the chunks in short steps, between which the page answers keys. */
  #later(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    setTimeout(() => {
      this.#isWaiting = false
      const begun = performance.now()
      this.#make()
      for (const at of this.#chunks.keys()) {
        this.#fill(at, at * size < most)
        if (performance.now() - begun > budget) return this.#later()
      }
      this.section.dataset["filled"] = String(this.#store.scene.transcript.length)
      this.#mark(false)
    })
  }

  /** Fills a chunk with the entries that it lacks, as elements or as one text. */
  #fill(at: number, isWhole: boolean): void {
    const chunk = this.#chunks[at]
    const entries = this.#entriesOf(at)
    if (chunk === undefined || (chunk.many === entries.length && (chunk.isWhole || !isWhole))) return
    chunk.many = entries.length
    chunk.isWhole ||= isWhole
    if (chunk.isWhole) return chunk.list.replaceChildren(...entries.map((entry) => this.#entry(entry)))
    const text = entries.map(({ heading, text }) => `${heading}\n${text}\n`).join("\n")
    chunk.list.replaceChildren(element("li", { class: "said" }, visible(text)))
  }

  /** Makes elements of the entries on the screen. */
  #unfold(): void {
    if (this.#isFound) return
    for (const [at, { list }] of this.#chunks.entries()) if (this.#near.has(list)) this.#fill(at, true)
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
    if (isScrolled) this.#make()
    const at = this.#wanted()
    const chunk = Math.floor(at / size)
    if (isScrolled) this.#fill(chunk, true)
    const entry = this.#chunks[chunk]?.list.children[at % size]
    if (!(entry instanceof HTMLElement) || this.#chunks[chunk]?.isWhole !== true) return
    this.#shown = entry
    entry.classList.add("is-selected")
    entry.querySelector(".heading")?.setAttribute("aria-pressed", "true")
    if (isScrolled) entry.scrollIntoView({ block: "center" })
  }

  /** The index of the last entry that is not later than the selection; if its event has several entries, of the first of them; or -1. */
  #wanted(): number {
    const { scene, selectedEvent } = this.#store
    if (selectedEvent === undefined || scene.transcript.length === 0) return -1
    let [low, high] = [0, scene.transcript.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((scene.transcript[middle]?.event ?? 0) <= selectedEvent) low = middle + 1
      else high = middle
    }
    let at = Math.max(0, low - 1)
    // Mutant `scene.transcript[at].event` survives: there is an entry at each index that is reached
    while (scene.transcript[at - 1]?.event === scene.transcript[at]?.event) at--
    return at
  }
}
