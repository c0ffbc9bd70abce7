/** The outline of the page: a tree grid with bars beside the rows. */
import { stripOf } from "./strips.ts"
import type { Strip } from "../drawing/Strip.ts"
import * as Drawing from "../drawing/Strip.ts"
import * as Axis from "../drawing/Axis.ts"
import type { Branch } from "../scene/Outline.ts"
import { duration } from "../text/Words.ts"
import { element } from "./Element.ts"
import { svg } from "./dom.ts"
import { Rows } from "./rows.ts"
import type { Store } from "./store.ts"

type Badge = Branch["badges"][number]

/** The signs of badges, so that colour is never the only difference. */
const signs: Readonly<Record<Badge["tone"], string>> = { healed: "◆", tell: "○", lost: "✕", asked: "△", note: "" }

const help =
  "Arrow up and down go through the rows, arrow right unfolds a row, arrow left folds it. Enter goes to the inspector. The question mark lists all keys."

/** The width of the bars when they are printed, in pixels: no more than A4 has room for, so that no bar is printed narrower than it is drawn. */
const paper = 280

export class OutlineView {
  readonly section: HTMLElement
  readonly #store: Store
  readonly #rows: Rows
  readonly #axis = svg("axis")
  readonly #lines = element("div", { class: "lines", "aria-hidden": "true" })
  readonly #bars = element(
    "div",
    { class: "bars", role: "columnheader" },
    element("span", { class: "unseen" }, "Time"),
    this.#axis
  )
  readonly #grid = element("div", {
    class: "outline",
    role: "treegrid",
    "aria-label": "Outline",
    "aria-describedby": "outline-help"
  })
  readonly #strips = new Map<number, Strip>()
  #positions = new Map<number, number>()
  #current = 0
  #isDue = false
  /** The width of the bars on the screen. It is measured only when it changes, because measuring lays out the page. */
  #wide = 0

  constructor(store: Store, enter: () => void) {
    this.#store = store
    const body = element("div", { class: "rows", role: "rowgroup" })
    this.#rows = new Rows(this.#grid, body, (index) => this.#row(index))
    this.#grid.append(
      element(
        "div",
        { class: "head", role: "rowgroup" },
        element(
          "div",
          { class: "row", role: "row", "aria-rowindex": 1 },
          element("div", { class: "name", role: "columnheader" }, "Step"),
          element("div", { class: "lasts", role: "columnheader" }, "Duration"),
          this.#bars
        )
      ),
      element("div", { class: "room", role: "none" }, this.#lines, body)
    )
    this.section = element(
      "section",
      { class: "view timeline", "aria-label": "Timeline" },
      this.#grid,
      element("p", { id: "outline-help", class: "unseen" }, help)
    )
    this.#grid.addEventListener("keydown", (event) => this.#key(event, enter))
    this.#listen()
    this.#point()
    new ResizeObserver(() => {
      this.#measure()
      this.redraw()
    }).observe(this.#bars)
    for (const isPrinted of [true, false])
      addEventListener(isPrinted ? "beforeprint" : "afterprint", () => {
        this.#rows.isPrinted = isPrinted
        this.renew()
      })
  }

  #listen(): void {
    this.#store.listen((change) => {
      if (change === "scene") this.#strips.clear()
      if (change === "scene" || change === "rows") this.renew()
      else if (change === "window") this.redraw()
      else if (change === "search") this.#dim()
      else if (change === "selection") this.#follow()
    })
  }

  focus(): void {
    this.#rows.reveal(this.#current)?.focus({ preventScroll: true })
  }

  /** Makes all rows anew. */
  renew(): void {
    const { rows } = this.#store
    this.#positions = new Map(rows.map((branch, position) => [branch, position]))
    this.#grid.setAttribute("aria-rowcount", String(rows.length + 1))
    const selected = this.#positions.get(this.#store.selected ?? -1)
    this.#current = selected ?? Math.min(this.#current, Math.max(0, rows.length - 1))
    if (this.#wide === 0) this.#measure()
    this.#rows.renew(rows.length)
    this.#draw()
  }

  /** Draws the bars with the next frame. */
  redraw(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.#draw()
    })
  }

  get #width(): number {
    return this.#rows.isPrinted ? paper : this.#wide
  }

  #measure(): void {
    this.#wide = this.#bars.clientWidth
    // the minimap above has no scroll bar
    this.section.parentElement?.style.setProperty("--bar", `${this.#grid.offsetWidth - this.#grid.clientWidth}px`)
  }

  #draw(): void {
    const width = this.#width
    if (width < 20) return
    this.#frame(width)
    for (const [index, row] of this.#rows.made) this.#drawBars(row, index)
    this.section.dataset["drawn"] = String(this.#rows.made.size)
  }

  #drawBars(row: HTMLElement, index: number): void {
    const { axis, outline, rows, scene, window } = this.#store
    const width = this.#width
    const branch = outline.branches[rows[index] ?? -1]
    const picture = row.querySelector("svg")
    // Mutant `false` for `picture === null` survives: each row of a branch has a picture
    if (branch === undefined || picture === null || width < 20) return
    let strip = this.#strips.get(branch.id)
    if (strip === undefined) this.#strips.set(branch.id, (strip = stripOf(scene, outline, branch)))
    change(picture, "viewBox", `0 0 ${width} ${Drawing.height}`)
    picture.innerHTML = Drawing.draw(strip, axis, width, window)
  }

  /** Draws the labels of the axis, and the lines and gaps behind all rows. */
  #frame(width: number): void {
    const { axis, window } = this.#store
    const x = Drawing.scale(width, window)
    const labels: Array<string> = []
    this.#lines.replaceChildren()
    this.#lines.style.width = `${width}px`
    const gaps: Array<readonly [from: number, to: number]> = []
    for (const { end, from, start, to } of axis.breaks) {
      const [a, b] = [Math.max(0, x(start)), Math.min(width, x(end))]
      if (b <= a) continue
      gaps.push([a, b])
      this.#line("gap", a, b - a)
      labels.push(`<text class="k-text" x="${(a + b) / 2}" y="15" text-anchor="middle">${duration(to - from)}</text>`)
    }
    for (const { drawn, label } of Axis.ticks(axis, Math.max(0, window.start), window.end, width / 90)) {
      const at = x(drawn)
      this.#line("tick", at, 0)
      // the length of a gap is more important than the time beside it
      if (gaps.some(([a, b]) => at > a - 38 && at < b + 38)) continue
      const anchor = at < 20 ? "start" : at > width - 30 ? "end" : "middle"
      labels.push(`<text class="k-quiet" x="${Math.max(0, at)}" y="15" text-anchor="${anchor}">${label}</text>`)
    }
    this.#axis.setAttribute("viewBox", `0 0 ${width} 22`)
    this.#axis.innerHTML = labels.join("")
  }

  #line(name: string, left: number, width: number): void {
    const line = element("i", { class: name })
    Object.assign(line.style, { left: `${left}px`, width: `${width}px` })
    this.#lines.append(line)
  }

  #row(index: number): HTMLElement {
    const { outline, rows } = this.#store
    const branch = outline.branches[rows[index] ?? -1]
    if (branch === undefined) return element("div")
    const siblings = branch.parent === undefined ? outline.roots : (outline.branches[branch.parent]?.children ?? [])
    const hasChildren = branch.children.length > 0
    const isUnfolded = hasChildren && rows[index + 1] === branch.children[0]
    const fold = element("span", { class: "fold", "aria-hidden": "true" }, hasChildren ? (isUnfolded ? "▾" : "▸") : "")
    const name = element(
      "div",
      { class: "name", role: "gridcell" },
      fold,
      element("span", { class: "title", dir: "auto" }, branch.name),
      ...branch.badges.map(badge),
      ...(branch.kind === "run" && branch.depth > 0 ? [element("span", { class: "badge note" }, "agent")] : []),
      element("span", { class: "note", dir: "auto" }, branch.note)
    )
    name.style.paddingLeft = `${8 + Math.min(branch.depth, 8) * 16}px`
    const row = element(
      "div",
      {
        class: `row is-${branch.kind} is-${branch.health}`,
        role: "row",
        "aria-level": branch.depth + 1,
        "aria-rowindex": index + 2,
        "aria-setsize": siblings.length,
        "aria-posinset": siblings.indexOf(branch.id) + 1,
        "aria-selected": String(branch.id === this.#store.selected),
        "aria-expanded": hasChildren ? String(isUnfolded) : undefined,
        tabindex: index === this.#current ? 0 : -1,
        "data-at": index
      },
      name,
      element("div", { class: "lasts", role: "gridcell" }, this.#lasts(branch)),
      element("div", { class: "bars", role: "gridcell" }, svg("strip"))
    )
    row.classList.toggle("is-dim", !this.#store.isMatch(branch.id))
    this.#drawBars(row, index)
    return row
  }

  #lasts({ children, from, kind, to, waited }: Branch): string {
    const { branches } = this.#store.outline
    if (kind !== "group") return duration(to - from - (kind === "part" ? 0 : waited))
    const all = children.flatMap((id) => branches[id] ?? []).map((child) => child.to - child.from)
    const [least, most] = [duration(Math.min(...all)), duration(Math.max(...all))]
    const unit = most.slice(most.indexOf(" "))
    return least === most
      ? most
      : least.endsWith(unit)
        ? `${least.slice(0, -unit.length)}–${most}`
        : `${least} – ${most}`
  }

  #dim(): void {
    for (const [index, row] of this.#rows.made)
      row.classList.toggle("is-dim", !this.#store.isMatch(this.#store.rows[index] ?? -1))
  }

  /** Marks the selected row, and scrolls to it. */
  #follow(): void {
    const at = this.#positions.get(this.#store.selected ?? -1)
    if (at !== undefined) this.#current = at
    // before rows are made, because the browser lays out the page when a row with the focus changes
    for (const [index, row] of this.#rows.made) {
      change(row, "aria-selected", String(index === at))
      change(row, "tabindex", index === this.#current ? "0" : "-1")
    }
    // at the start, the head of the page stays in view
    if (at !== undefined && !(this.#store.by === "start" && this.#rows.isInPage)) this.#rows.reveal(at)
  }

  #go(to: number): void {
    const at = Math.min(Math.max(0, to), this.#store.rows.length - 1)
    this.#store.select(this.#store.rows[at])
    this.#rows.reveal(at)?.focus({ preventScroll: true })
  }

  #key(event: KeyboardEvent, enter: () => void): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const branch = this.#store.outline.branches[this.#store.rows[this.#current] ?? -1]
    const page = Math.max(1, Math.floor(this.#grid.clientHeight / Drawing.height) - 1)
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.#go(this.#current + 1),
      ArrowUp: () => this.#go(this.#current - 1),
      PageDown: () => this.#go(this.#current + page),
      PageUp: () => this.#go(this.#current - page),
      Home: () => this.#go(0),
      End: () => this.#go(Infinity),
      ArrowRight: () => this.#right(branch),
      ArrowLeft: () => this.#left(branch),
      Enter: enter,
      " ": () => branch !== undefined && this.#toggle(branch)
    }
    const act = acts[event.key]
    if (act === undefined) return
    event.preventDefault()
    event.stopPropagation()
    act()
  }

  #isShownUnfolded(branch: Branch): boolean {
    return branch.children.length > 0 && this.#store.rows[this.#current + 1] === branch.children[0]
  }

  #right(branch: Branch | undefined): void {
    if (branch === undefined) return
    if (this.#isShownUnfolded(branch)) this.#go(this.#current + 1)
    else this.#store.fold(branch, true)
  }

  #left(branch: Branch | undefined): void {
    if (branch === undefined) return
    if (this.#isShownUnfolded(branch)) return this.#store.fold(branch, false)
    const parent = this.#positions.get(branch.parent ?? -1)
    if (parent !== undefined) this.#go(parent)
  }

  #toggle(branch: Branch): void {
    const at = this.#positions.get(branch.id) ?? 0
    this.#store.fold(branch, this.#store.rows[at + 1] !== branch.children[0])
  }

  #point(): void {
    const branchAt = (event: Event): Branch | undefined => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-at]") : null
      // Mutant `+1` survives: each row that is made has a branch
      return row === null ? undefined : this.#store.outline.branches[this.#store.rows[Number(row.dataset["at"])] ?? -1]
    }
    this.#grid.addEventListener("click", (event) => {
      const branch = branchAt(event)
      if (branch === undefined) return
      const isFold = event.target instanceof Element && event.target.classList.contains("fold")
      if (isFold) this.#toggle(branch)
      this.#go(this.#positions.get(branch.id) ?? 0)
    })
    this.#grid.addEventListener("dblclick", (event) => this.#store.fit(branchAt(event)))
    this.#grid.addEventListener(
      "wheel",
      (event) => {
        const isZoom = event.ctrlKey || event.metaKey
        // without a modifier key, the wheel scrolls as usual
        if (!isZoom && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return
        event.preventDefault()
        const { left, width } = this.#bars.getBoundingClientRect()
        const { end, start } = this.#store.window
        const perPixel = (end - start) / Math.max(1, width)
        if (isZoom) this.#store.zoom(Math.exp(-event.deltaY / 300), start + (event.clientX - left) * perPixel)
        else this.#store.pan(event.deltaX * perPixel)
      },
      { passive: false }
    )
  }
}

/** Sets an attribute if it has another value: the browser lays out what is set again. */
const change = (of: Element, name: string, value: string): void => {
  if (of.getAttribute(name) !== value) of.setAttribute(name, value)
}

const badge = ({ text, tone }: Badge): HTMLElement =>
  element("span", { class: `badge ${tone}` }, signs[tone] === "" ? text : `${signs[tone]} ${text}`)
