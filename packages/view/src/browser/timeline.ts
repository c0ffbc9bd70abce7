/**
 * The timeline of the page. It is drawn as SVG, or on a canvas if it has too many items. The reader moves it with the pointer and with
 * keys.
 */
import * as Details from "../scene/Details.ts"
import { scaleOf, gutter, type Row } from "../drawing/Layout.ts"
import { endOf, type Mark, type Span, startOf } from "../scene/Shapes.ts"
import { inner } from "../drawing/Figure.ts"
import * as Canvas from "./canvas.ts"
import { button, element } from "./dom.ts"
import type { Store } from "./store.ts"

/** A scene with more items is drawn on a canvas. */
const manyItems = 2500

/** The width of the picture when it is printed, in pixels. It does not depend on the screen. */
const paper = 720

const help =
  "Arrow left and right go through a lane, arrow up and down to the lane beside it. Enter goes to the details, Escape comes back. Plus and minus zoom, 0 shows all. The table below holds the same."

export class Timeline {
  readonly section: HTMLElement
  readonly #figure = element("div", {
    class: "figure",
    role: "application",
    "aria-roledescription": "timeline",
    "aria-label": "Timeline",
    "aria-describedby": "help",
    tabindex: 0
  })
  readonly #svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  readonly #canvas = element("canvas", { "aria-hidden": "true" })
  readonly #room = element("div", { class: "room" })
  readonly #ring = element("div", { class: "ring", hidden: true })
  readonly #tip = element("div", { class: "tip", role: "tooltip", hidden: true })
  readonly #said = element("div", { class: "unseen", role: "status" })
  readonly #store: Store
  readonly #enter: () => void
  #isDue = false
  #isPrinted = false

  constructor(store: Store, enter: () => void) {
    this.#store = store
    this.#enter = enter
    this.#svg.setAttribute("class", "k-figure")
    this.#svg.setAttribute("aria-hidden", "true")
    this.#room.append(this.#svg, this.#canvas, this.#ring)
    this.#figure.append(this.#room)
    this.section = element(
      "section",
      { class: "timeline", "aria-label": "Timeline" },
      this.#toolbar(),
      this.#figure,
      this.#tip,
      this.#said,
      element("p", { id: "help", class: "unseen" }, help)
    )
    store.listen((change) => {
      if (change === "selection") this.#say()
      this.redraw()
    })
    this.#point()
    this.#figure.addEventListener("keydown", (event) => this.#key(event))
    this.#figure.addEventListener("scroll", () => this.redraw(), { passive: true })
    new ResizeObserver(() => this.redraw()).observe(this.#figure)
    for (const isPrinted of [true, false])
      addEventListener(isPrinted ? "beforeprint" : "afterprint", () => {
        this.#isPrinted = isPrinted
        this.draw()
      })
  }

  focus(): void {
    this.#figure.focus({ preventScroll: true })
  }

  /** Draws the picture with the next frame. */
  redraw(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.draw()
    })
  }

  /** Draws the picture at once. */
  draw(): void {
    const { scene, sheet, window } = this.#store
    const width = this.#width
    if (width < 60) return
    // a print has the whole picture and not the visible part, so it is SVG with any number of elements
    const isLarge = scene.items.length > manyItems && !this.#isPrinted
    this.#figure.dataset["drawing"] = isLarge ? "canvas" : "svg"
    this.#svg.toggleAttribute("hidden", isLarge)
    this.#canvas.hidden = !isLarge
    this.#room.style.height = this.#isPrinted ? "auto" : `${sheet.height}px`
    if (isLarge) this.#paint(width)
    else {
      this.#svg.setAttribute("viewBox", `0 0 ${width} ${sheet.height}`)
      this.#svg.innerHTML = inner(sheet, width, window, false)
    }
    this.#moveRing()
  }

  get #width(): number {
    return this.#isPrinted ? paper : this.#figure.clientWidth
  }

  #paint(width: number): void {
    const height = this.#figure.clientHeight
    const ratio = devicePixelRatio
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
    if (this.#canvas.width !== w || this.#canvas.height !== h) Object.assign(this.#canvas, { width: w, height: h })
    this.#canvas.style.width = `${width}px`
    this.#canvas.style.height = `${height}px`
    const context = this.#canvas.getContext("2d")
    const { sheet, window } = this.#store
    if (context === null) return
    const port = { width, height, scrolled: this.#figure.scrollTop }
    this.#figure.dataset["drawn"] = String(Canvas.draw(context, sheet, window, port))
  }

  /** Moves the ring around the selected item. */
  #moveRing(): void {
    const box = this.#boxOf(this.#store.item)
    this.#ring.hidden = box === undefined
    if (box === undefined) return
    const { height, width, x, y } = box
    Object.assign(this.#ring.style, {
      left: `${x - 3}px`,
      top: `${y - 2}px`,
      width: `${width + 6}px`,
      height: `${height + 4}px`
    })
  }

  #rowOf(item: Span | Mark): Row | undefined {
    const { rows, scene } = this.#store.sheet
    const before = scene.lanes.slice(0, item.lane).reduce((sum, lane) => sum + lane.rows, 0)
    return rows[before + item.row]
  }

  #boxOf(item: Span | Mark | undefined) {
    const row = item === undefined ? undefined : this.#rowOf(item)
    if (item === undefined || row === undefined) return undefined
    const { sheet, window } = this.#store
    const { left, right, x } = scaleOf(this.#width, window)
    const half = item.shape === "mark" ? 5 : 0
    const from = Math.max(left - 4, x(sheet.axis.toDrawn(startOf(item))) - half)
    const to = Math.min(right + 4, x(sheet.axis.toDrawn(endOf(item))) + half)
    return to < from ? undefined : { x: from, y: row.y, width: to - from, height: row.height }
  }

  /** Reads out the selected item to screen readers, and scrolls to it. */
  #say(): void {
    const { item, scene } = this.#store
    this.#said.textContent = item === undefined ? "Nothing is selected" : Details.lineOf(scene, item)
    const row = item === undefined ? undefined : this.#rowOf(item)
    if (row === undefined) return
    const { clientHeight, scrollTop } = this.#figure
    if (row.y < scrollTop || row.y + row.height > scrollTop + clientHeight)
      this.#figure.scrollTop = row.y - clientHeight / 2
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const act = this.#keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    act()
  }

  readonly #keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => this.#step(1),
    ArrowLeft: () => this.#step(-1),
    ArrowDown: () => this.#beside(1),
    ArrowUp: () => this.#beside(-1),
    Home: () => this.#edge(0),
    End: () => this.#edge(-1),
    Enter: () => this.#enter(),
    Escape: () => this.#store.select(undefined),
    "+": () => this.#store.zoom(1.5, this.#around()),
    "=": () => this.#store.zoom(1.5, this.#around()),
    "-": () => this.#store.zoom(1 / 1.5, this.#around()),
    "0": () => this.#store.showAll()
  }

  #around(): number | undefined {
    const { item, sheet } = this.#store
    return item === undefined ? undefined : sheet.axis.toDrawn(startOf(item))
  }

  #step(by: number): void {
    const { item } = this.#store
    if (item === undefined) return this.#store.select(this.#store.scene.items[0]?.id)
    const lane = this.#store.inLane(item.lane)
    const next = lane[lane.findIndex(({ id }) => id === item.id) + by]
    if (next !== undefined) this.#store.select(next.id)
  }

  /** Selects the item that is nearest in time in the lane above or below. */
  #beside(by: number): void {
    const { item } = this.#store
    if (item === undefined) return this.#step(1)
    const lane = this.#store.inLane(item.lane + by)
    let nearest: Span | Mark | undefined
    const distance = (other: Span | Mark) => Math.abs(startOf(other) - startOf(item))
    for (const other of lane) if (nearest === undefined || distance(other) < distance(nearest)) nearest = other
    if (nearest !== undefined) this.#store.select(nearest.id)
  }

  #edge(at: number): void {
    const { item } = this.#store
    const found = this.#store.inLane(item?.lane ?? 0).at(at)
    if (found !== undefined) this.#store.select(found.id)
  }

  #toolbar(): HTMLElement {
    const bar = element("div", { class: "bar", role: "toolbar", "aria-label": "Zoom" })
    bar.append(
      element("span", { class: "keys", "aria-hidden": "true" }, "← → ↑ ↓ to go, Enter for details, + − to zoom"),
      button("−", () => this.#store.zoom(1 / 1.6), { "aria-label": "Zoom out" }),
      button("+", () => this.#store.zoom(1.6), { "aria-label": "Zoom in" }),
      button("All", () => this.#store.showAll(), { "aria-label": "Show the whole time" })
    )
    return bar
  }

  #point(): void {
    let dragged: { readonly x: number; moved: boolean } | undefined
    const figure = this.#figure
    figure.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return
      dragged = { x: event.clientX, moved: false }
    })
    figure.addEventListener("pointermove", (event) => {
      if (dragged === undefined || event.buttons === 0) return this.#hover(event)
      if (!dragged.moved && Math.abs(event.clientX - dragged.x) < 4) return
      if (!dragged.moved) figure.setPointerCapture(event.pointerId)
      const { perMilli } = scaleOf(this.#width, this.#store.window)
      this.#store.pan((dragged.x - event.clientX) / perMilli)
      dragged = { x: event.clientX, moved: true }
      this.#tip.hidden = true
    })
    figure.addEventListener("pointerup", (event) => {
      if (dragged?.moved === false) {
        const found = this.#at(event)
        this.#store.select(found?.id)
      }
      dragged = undefined
    })
    figure.addEventListener("pointerleave", () => (this.#tip.hidden = true))
    figure.addEventListener(
      "wheel",
      (event) => {
        // without a modifier key, the wheel scrolls the page as usual
        if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return
        event.preventDefault()
        const { drawn, perMilli } = scaleOf(this.#width, this.#store.window)
        if (event.ctrlKey || event.metaKey)
          this.#store.zoom(Math.exp(-event.deltaY / 300), drawn(event.clientX - figure.getBoundingClientRect().left))
        else this.#store.pan(event.deltaX / perMilli)
      },
      { passive: false }
    )
  }

  #hover(event: PointerEvent): void {
    const item = this.#at(event)
    this.#tip.hidden = item === undefined
    this.#figure.classList.toggle("over", item !== undefined)
    if (item === undefined) return
    const { events, scene } = this.#store
    this.#tip.replaceChildren(
      element("strong", {}, item.label),
      ...Details.hoverOf(scene, events, item).map((line) => element("span", {}, line))
    )
    const { height, width } = this.#tip.getBoundingClientRect()
    const x = Math.min(event.clientX + 14, innerWidth - width - 8)
    const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18
    Object.assign(this.#tip.style, { left: `${Math.max(4, x)}px`, top: `${Math.max(4, y)}px` })
  }

  /** The mark under the pointer; if there is none, the span. */
  #at(event: PointerEvent): Span | Mark | undefined {
    const { sheet, window } = this.#store
    const bounds = this.#figure.getBoundingClientRect()
    const x = event.clientX - bounds.left
    const y = event.clientY - bounds.top + this.#figure.scrollTop
    const row = sheet.rows.find((row) => y >= row.y - 1 && y <= row.y + row.height + 1)
    if (row === undefined || x < gutter - 6) return undefined
    const { drawn, perMilli } = scaleOf(this.#width, window)
    const time = sheet.axis.toTime(drawn(x))
    const reach = 6 / perMilli
    return nearest(row.marks, time, reach) ?? nearest(row.spans, time, reach)
  }
}

/** The item that is nearest to a time, if it is within reach. */
const nearest = <T extends Span | Mark>(items: ReadonlyArray<T>, time: number, reach: number): T | undefined => {
  let found: T | undefined
  let best = reach
  for (const item of items) {
    const away = Math.max(startOf(item) - time, time - endOf(item), 0)
    if (away <= best) {
      found = item
      if (away === 0) return item
      best = away
    }
  }
  return found
}
