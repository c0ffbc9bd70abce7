/** A narrow picture of the whole time: work, failures and gaps. A drag chooses the stretch of time that the outline shows. */
import { dark, light } from "../drawing/Colors.ts"
import type { Scene } from "../scene/Scene.ts"
import { endOf, startOf } from "../scene/Shapes.ts"
import { duration } from "../text/Words.ts"
import { button, element } from "./Element.ts"
import type { Steps } from "./steps.ts"
import type { Store } from "./store.ts"

const height = 34

export class Minimap {
  readonly section: HTMLElement
  readonly #canvas = element("canvas", { height })
  readonly #frame = element("div", { class: "frame" })
  readonly #said = element("span")
  readonly #box: HTMLElement
  readonly #store: Store

  constructor(store: Store, steps: Steps) {
    this.#store = store
    this.#box = element("div", { class: "map", "aria-hidden": "true" }, this.#canvas, this.#frame)
    const fit = button("Fit ", () => steps.fit(), { title: "Show the time of the selection" })
    const all = button("All ", () => store.showAll(), { title: "Show the whole time" })
    fit.append(element("kbd", {}, "z"))
    all.append(element("kbd", {}, "0"))
    this.section = element(
      "div",
      { class: "minimap" },
      element("div", { class: "span" }, this.#said, fit, all),
      this.#box
    )
    store.listen((change) => {
      if (change === "scene") this.draw()
      // Mutant `true` survives: the frame that it is given is the one that it has
      else if (change === "window") this.#frameIt()
    })
    new ResizeObserver(() => this.draw()).observe(this.#box)
    this.#point()
  }

  draw(): void {
    const width = this.#box.clientWidth
    const context = this.#canvas.getContext("2d")
    if (width < 20 || context === null) return
    const ratio = devicePixelRatio
    Object.assign(this.#canvas, { width: Math.round(width * ratio), height: height * ratio })
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    paint(context, this.#store, width)
    this.#frameIt()
  }

  /** Shows which stretch of time is visible. */
  #frameIt(): void {
    const { axis, isWhole, whole, window } = this.#store
    const share = (drawn: number) => (100 * (drawn - whole.start)) / (whole.end - whole.start)
    this.#frame.hidden = isWhole
    this.#frame.style.left = `${share(window.start)}%`
    this.#frame.style.width = `${share(window.end) - share(window.start)}%`
    const [from, to] = [axis.toTime(Math.max(0, window.start)), axis.toTime(Math.min(axis.length, window.end))]
    this.#said.textContent = isWhole ? "Drag to zoom" : `${duration(to - from)} shown`
  }

  #point(): void {
    let from: number | undefined
    const at = (event: PointerEvent) => {
      const { left, width } = this.#box.getBoundingClientRect()
      const { end, start } = this.#store.whole
      return start + Math.min(1, Math.max(0, (event.clientX - left) / Math.max(1, width))) * (end - start)
    }
    const chosen = (event: PointerEvent) => {
      const [one, other] = [from ?? 0, at(event)]
      return { start: Math.min(one, other), end: Math.max(one, other) }
    }
    this.#box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return
      from = at(event)
      this.#box.setPointerCapture(event.pointerId)
    })
    this.#box.addEventListener("pointermove", (event) => {
      if (from === undefined) return
      const { end, start } = chosen(event)
      const { whole } = this.#store
      // Mutant `end - start >= (whole.end - whole.start) / 200` survives: the last digits decide about a drag of this length
      if (end - start > (whole.end - whole.start) / 200) this.#store.show({ start, end })
    })
    for (const type of ["pointerup", "pointercancel"] as const)
      this.#box.addEventListener(type, () => {
        from = undefined
      })
    this.#box.addEventListener("dblclick", () => this.#store.showAll())
  }
}

/** Whether each pixel column has something, for a row of the minimap. */
const columns = (
  scene: Scene,
  width: number,
  x: (time: number) => number,
  has: (at: number) => boolean
): Uint8Array => {
  const found = new Uint8Array(Math.ceil(width) + 1)
  for (const item of scene.items) {
    if (!has(item.id)) continue
    const from = Math.max(0, Math.floor(x(startOf(item))))
    found.fill(1, from, Math.max(from + 2, Math.ceil(x(endOf(item)))))
  }
  return found
}

const paint = (context: CanvasRenderingContext2D, store: Store, width: number): void => {
  const palette = document.documentElement.dataset["theme"] === "dark" ? dark : light
  const { axis, failures, outline, scene, whole } = store
  const drawnX = (drawn: number) => ((drawn - whole.start) * width) / (whole.end - whole.start)
  const x = (time: number) => drawnX(axis.toDrawn(time))
  context.clearRect(0, 0, width, height)
  context.strokeStyle = palette.quiet
  context.lineWidth = 0.7
  for (const { end, start } of axis.breaks) {
    const [a, b] = [drawnX(start), drawnX(end)]
    context.save()
    context.beginPath()
    context.rect(a, 0, b - a, height)
    context.clip()
    context.beginPath()
    for (let at = a - height; at < b; at += 5) {
      context.moveTo(at, height)
      context.lineTo(at + height, 0)
    }
    context.stroke()
    context.restore()
  }
  const layerOf = (id: number) => {
    const item = scene.items[id]
    if (item?.shape !== "span" || item.part === "wait" || item.part === "approval") return undefined
    return scene.lanes[item.lane]?.layer
  }
  const bars = [
    ["model", 4],
    ["tool", 13]
  ] as const
  for (const [layer, y] of bars) {
    context.fillStyle = palette[layer]
    const has = columns(scene, width, x, (id) => layerOf(id) === layer)
    // Mutant `at <= has.length` survives: behind the last column there is nothing to paint
    for (let at = 0; at < has.length; at++) if (has[at] === 1) context.fillRect(at, y, 1, 7)
  }
  for (const id of failures) {
    const item = scene.items[id]
    if (item === undefined) continue
    const branch = outline.branches[outline.branchOf[id] ?? -1]
    // Mutant `branch.kind` survives: each item has a branch
    const owner = branch?.kind === "part" ? outline.branches[branch.parent ?? -1] : branch
    const isLost = owner === undefined || owner.health === "lost"
    const at = x(endOf(item))
    context.fillStyle = isLost ? palette.failed : palette.gold
    context.fillRect(at - 1, isLost ? 0 : 22, 2, height)
    if (isLost) context.fillRect(at - 1, 0, 8, 7)
  }
}
