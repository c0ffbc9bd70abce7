/**
 * Draws the elements of a scene as SVG, and makes the shapes that the canvas draws too.
 *
 * @internal
 */
import * as Axis from "./Axis.ts"
import { markup } from "../text/Escape.ts"
import { type Box, boxesOf, type Dot, dotsOf, type Sheet, type Window } from "./Layout.ts"
import { scaleOf, top } from "./scale.ts"
import type { Layer, Track } from "../scene/Shapes.ts"
import { count, duration } from "../text/Words.ts"

/**
 * Makes the SVG elements within the picture. A page has the style elsewhere, and sets `isTitled` to `false`, because titles would hide its
 * tooltip.
 */
export const inner = (drawn: Sheet, width: number, window: Window, isTitled = true): string => {
  const parts: Array<string> = []
  const { left, right, x } = scaleOf(width, window)
  for (const { drawn: at, label } of Axis.ticks(
    drawn.axis,
    Math.max(0, window.start),
    window.end,
    (right - left) / 90
  )) {
    const px = hundredths(x(at))
    parts.push(`<path class="k-axis" d="M${px} ${top - 6}V${drawn.height - 4}"/>`)
    parts.push(`<text class="k-quiet k-small" x="${px}" y="${top - 12}" text-anchor="middle">${label}</text>`)
  }
  for (const { end, from, start, to } of drawn.axis.breaks) {
    const [a, b] = [hundredths(x(start)), hundredths(x(end))]
    if (b < left || a > right) continue
    parts.push(
      `<rect class="k-raised" x="${a}" y="${top - 6}" width="${hundredths(b - a)}" height="${drawn.height - top}"/>`
    )
    parts.push(
      `<text class="k-quiet k-small" text-anchor="middle" transform="translate(${hundredths((a + b) / 2 + 3)} ${hundredths((top + drawn.height) / 2)}) rotate(-90)">${duration(to - from)} later</text>`
    )
  }
  for (const { track, y } of drawn.headings) parts.push(heading(track, y))
  for (const { depth, height, layer, y } of drawn.captions)
    parts.push(
      `<text class="k-quiet k-small" x="${indent(depth) + 12}" y="${hundredths(y + Math.min(height, 24) / 2 + 3.5)}">${names[layer]}</text>`
    )
  for (const row of drawn.rows)
    boxesOf(drawn, row, width, window, (box) => parts.push(boxed(drawn, box, left, isTitled)))
  for (const row of drawn.rows) dotsOf(drawn, row, width, window, (dot) => parts.push(dotted(drawn, dot, isTitled)))
  return parts.join("")
}

/** The names of the layers, as the drawing shows them. */
const names: Readonly<Record<Layer, string>> = {
  run: "run",
  turn: "turns",
  model: "model",
  transport: "transport",
  tool: "tools",
  fixer: "fixing"
}

/** The word before the name of an agent, by the kind of its track. */
const kinds: Readonly<Record<Track["kind"], string>> = { run: "", fixer: "fixer ", agent: "sub-agent " }

/** The x of the names of a track, in pixels, by its depth. */
const indent = (depth: number): number => 8 + Math.min(depth, 5) * 10

const heading = ({ agent, depth, kind }: Track, y: number): string =>
  `<text class="k-text k-name" x="${indent(depth)}" y="${y + 4}">${kinds[kind] === "" ? "" : `<tspan class="k-quiet">${kinds[kind]}</tspan>`}${markup(fitting(agent, 200))}</text>`

const hundredths = (pixels: number): number => Math.round(pixels * 100) / 100

/** Cuts a text to about this width in pixels. It counts 6 pixels for a letter, and 11 for a character of an Asian script. */
export const fitting = (text: string, width: number): string => {
  let used = 0
  let shown = ""
  for (const character of text) {
    used += (character.codePointAt(0) ?? 0) > 0x2e7f ? 11 : 6
    if (used > width) return shown.length < 4 ? "" : `${shown.slice(0, -1)}…`
    shown += character
  }
  return shown
}

const boxed = ({ scene }: Sheet, box: Box, left: number, isTitled: boolean): string => {
  const item = scene.items[box.item]
  const { height, part, state, y } = box
  const x = hundredths(box.x)
  const width = hundredths(box.width)
  const middle = hundredths(y + height / 2)
  const label = markup(item?.label ?? "")
  const head = `<g data-item="${box.item}">${isTitled ? `<title>${label}</title>` : ""}`
  if (part === "wait" || part === "mending" || part === "approval") {
    const dashes = part === "approval" ? ' stroke-dasharray="1 4"' : part === "wait" ? ' stroke-dasharray="4 3"' : ""
    return `${head}<path class="k-thread" d="M${x} ${middle}H${hundredths(x + width)}" stroke-width="${part === "mending" ? 3 : 1.5}"${dashes}/></g>`
  }
  const fill = fillOf(box)
  const inset = insetOf(box)
  const faded = isFaded(state) ? " k-unfinished" : ""
  const shape = fill === "broken" ? broken(x, y + inset, width, height - 2 * inset) : undefined
  const drawn =
    shape !== undefined
      ? `<path class="k-failed k-pale" d="${shape.body}"/><path class="k-failed" d="${shape.shard}"/>`
      : `<rect class="k-${fill}${faded}" x="${x}" y="${y + inset}" width="${width}" height="${hundredths(height - 2 * inset)}" rx="${Math.min(3, width / 2)}"/>`
  const from = Math.max(x, left)
  const text = height < 13 ? "" : fitting(item?.label ?? "", x + (shape?.room ?? width) - from - 10)
  const on = isPale(box) ? "k-text" : "k-on"
  const caption =
    text === ""
      ? ""
      : `<text class="${on} k-small" x="${hundredths(from + 5)}" y="${hundredths(middle + 3.5)}">${markup(text)}</text>`
  return `${head}${drawn}${caption}</g>`
}

/** The fill of a box. A failed box that is wide enough is drawn broken. */
const fillOf = ({ layer, state, width }: Box): Layer | "failed" | "broken" => {
  if (state === "failed") return width < 16 ? "failed" : "broken"
  return state === "refused" ? "failed" : layer
}

export const isFaded = (state: Box["state"]): boolean =>
  state === "unfinished" || state === "interrupted" || state === "suspended" || state === "discarded"

/** Whether a text on a box is as dark as one on the background. The rows of runs are too low for texts. */
const isPale = (box: Box): boolean => box.layer === "turn" || isFaded(box.state) || fillOf(box) === "broken"

/** The distance in pixels between a box and the upper and lower edge of its row. */
const insetOf = ({ height, layer }: Box): number => (layer === "turn" || height < 8 ? 0.5 : 1.5)

/** The paths of a box that is drawn broken at its end: the body, the shard beside it, and the width that is left for a text. */
export const broken = (x: number, y: number, width: number, height: number) => {
  const end = hundredths(x + width)
  const crack = end - 9
  const [a, b, c] = [hundredths(height * 0.3), hundredths(height * 0.4), hundredths(height * 0.3)]
  return {
    body: `M${hundredths(x + 2)} ${hundredths(y)}H${hundredths(crack)}l3 ${a}l-4 ${b}l2.5 ${c}H${hundredths(x + 2)}q-2 0 -2 -2V${hundredths(y + 2)}q0 -2 2 -2Z`,
    shard: `M${hundredths(crack + 2)} ${hundredths(y)}H${hundredths(end - 2)}q2 0 2 2V${hundredths(y + height - 2)}q0 2 -2 2H${hundredths(crack + 3.5)}l-2.5 ${-c}l4 ${-b}Z`,
    room: width - 10
  }
}

const dotted = ({ scene }: Sheet, { height, item, many, tone, x, y }: Dot, isTitled: boolean): string => {
  const text = scene.items[item]?.label ?? ""
  const label = markup(many > 1 ? `${count(many, "mark")}, among them: ${text}` : text)
  const px = hundredths(x)
  const size = Math.min(5, Math.max(3, height / 3))
  const reach = hundredths(height / 2 + 1)
  const seam = tone === "mended" ? `<path class="k-thread" stroke-width="2" d="M${px} ${y - reach}V${y + reach}"/>` : ""
  return `<g data-item="${item}">${isTitled ? `<title>${label}</title>` : ""}${seam}<path class="k-${tone}" stroke-width="1.2" d="${shapeOf(tone, px, y, size)}"/></g>`
}

/** The path of a mark. Each tone has its own shape, so that colour is never the only difference. */
export const shapeOf = (tone: Dot["tone"], x: number, y: number, size: number): string => {
  const s = hundredths(size)
  switch (tone) {
    case "mended":
      return `M${x} ${y - s}L${x + s} ${y}L${x} ${y + s}L${x - s} ${y}Z`
    case "lost":
      return `M${x - s} ${y - s}H${x + s}V${y + s}H${x - s}Z`
    case "asked":
      return `M${x} ${y - s}L${x + s} ${y + s}H${x - s}Z`
    default: {
      const r = tone === "tell" ? s : hundredths(s * 0.6)
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`
    }
  }
}
