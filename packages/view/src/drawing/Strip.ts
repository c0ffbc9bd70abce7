/**
 * Draws the bars of one row of an outline as SVG, for a visible stretch of time. Bars that are too near to tell apart are drawn as one, so
 * a row has about as many elements as pixels at most.
 *
 * @internal
 */
import type { Axis } from "./Axis.ts"
import { broken, isFaded, shapeOf } from "./Figure.ts"
import type { Window } from "./Layout.ts"
import { markup } from "../text/Escape.ts"
import type { Scene } from "../scene/Scene.ts"
import { endOf, type Layer, type Mark, type Span, startOf, type Tone } from "../scene/Shapes.ts"

/** How a bar looks. */
type Look = Layer | "failed" | "wait" | "mending" | "person"

interface Segment {
  readonly look: Look
  readonly isFaded: boolean
  readonly label: string
  readonly from: number
  readonly to: number
}

/** The bars and marks of a row. They do not depend on the visible stretch of time. */
export interface Strip {
  readonly segments: ReadonlyArray<Segment>
  readonly marks: ReadonlyArray<Mark>
}

/** The least width of a bar in pixels. */
const least = 2
/** The most bars of a row that have a title each. */
const titled = 12
/** The height of a row, in pixels. */
export const height = 26
const barHeight = 12

const lookOf = ({ part, state }: Span, layer: Layer): Look => {
  if (part === "approval") return "person"
  if (part === "wait" || part === "mending") return part
  return state === "failed" || state === "refused" ? "failed" : layer
}

const order: ReadonlyArray<Look> = [
  "run",
  "turn",
  "model",
  "transport",
  "tool",
  "fixer",
  "failed",
  "wait",
  "mending",
  "person"
]

/** Makes the strip of these items. */
export const make = (scene: Scene, items: Iterable<Span | Mark>): Strip => {
  const segments: Array<Segment> = []
  const marks: Array<Mark> = []
  for (const item of items) {
    if (item.shape === "mark") {
      if (item.tone !== "note") marks.push(item)
      continue
    }
    const look = lookOf(item, scene.lanes[item.lane]?.layer ?? "run")
    segments.push({ look, isFaded: isFaded(item.state), label: item.label, from: startOf(item), to: endOf(item) })
  }
  const byLook = (one: Segment, other: Segment) =>
    order.indexOf(one.look) - order.indexOf(other.look) || Number(one.isFaded) - Number(other.isFaded)
  return {
    segments: segments.toSorted((one, other) => byLook(one, other) || one.from - other.from),
    marks: marks.toSorted((one, other) => one.at - other.at)
  }
}

/** Converts a position of the axis to pixels. */
export const scale =
  (width: number, { end, start }: Window) =>
  (drawn: number): number =>
    ((drawn - start) * width) / (end - start)

/** Draws the elements of a row. */
export const draw = (strip: Strip, axis: Axis, width: number, window: Window): string => {
  const x = scale(width, window)
  // a row that sums up has many bars, and their names are those of its branches
  const isTitled = strip.segments.length <= titled
  const parts: Array<string> = []
  let bar: { readonly segment: Segment; readonly x: number; end: number; many: number } | undefined
  const flush = () => {
    if (bar !== undefined)
      parts.push(drawn(bar.segment, bar.x, Math.max(least, bar.end - bar.x), isTitled && bar.many === 1))
    bar = undefined
  }
  for (const segment of strip.segments) {
    const from = Math.max(-4, x(axis.toDrawn(segment.from)))
    const to = Math.min(width + 4, x(axis.toDrawn(segment.to)))
    if (to < -3 || from > width + 3) continue
    const isSame = bar?.segment.look === segment.look && bar.segment.isFaded === segment.isFaded
    // the last pixel of a bar is its own, so that two failed attempts stay two
    if (bar !== undefined && isSame && from < Math.max(bar.end, bar.x + least) + (to - from < least ? 1 : 0)) {
      bar.end = Math.max(bar.end, to)
      bar.many++
      continue
    }
    flush()
    bar = { segment, x: Math.min(from, width - least), end: to, many: 1 }
  }
  flush()
  dots(strip.marks, axis, width, x, (mark, at) => parts.push(dotted(mark, at)))
  return parts.join("")
}

const hundredths = (pixels: number): number => Math.round(pixels * 100) / 100

const drawn = ({ isFaded, label, look }: Segment, from: number, wide: number, isTitled: boolean): string => {
  const x = hundredths(from)
  const width = hundredths(wide)
  const title = !isTitled ? "" : `<title>${markup(label)}</title>`
  const middle = height / 2
  if (look === "wait" || look === "person" || look === "mending") {
    const dashes = look === "person" ? ' stroke-dasharray="1 4"' : look === "wait" ? ' stroke-dasharray="4 3"' : ""
    const thread = look === "person" ? "k-person" : "k-thread"
    return `<path class="${thread}" d="M${x} ${middle}h${width}" stroke-width="${look === "wait" ? 2 : 3}"${dashes}>${title}</path>`
  }
  const top = (height - barHeight) / 2
  if (look === "failed" && width >= 16) {
    const { body, shard } = broken(x, top, width, barHeight)
    return `<g class="bar">${title}<path class="k-failed k-pale" d="${body}"/><path class="k-failed" d="${shard}"/></g>`
  }
  const isBack = look === "turn" || look === "run"
  const [y, high] = isBack ? [top - 3, barHeight + 6] : [top, barHeight]
  return `<rect class="bar k-${look}${isFaded ? " k-unfinished" : ""}" x="${x}" y="${y}" width="${width}" height="${high}" rx="${Math.min(2, width / 2)}">${title}</rect>`
}

const importance: Readonly<Record<Tone, number>> = { note: 0, asked: 1, tell: 2, mended: 3, lost: 4 }

/** Joins marks that would cover each other: the most important one is drawn. */
const dots = (
  marks: ReadonlyArray<Mark>,
  axis: Axis,
  width: number,
  x: (drawn: number) => number,
  each: (mark: Mark, at: number) => void
): void => {
  let last: { mark: Mark; readonly at: number } | undefined
  for (const mark of marks) {
    const at = x(axis.toDrawn(mark.at))
    if (at < -4 || at > width + 4) continue
    if (last !== undefined && at - last.at < 9) {
      if (importance[mark.tone] > importance[last.mark.tone]) last.mark = mark
      continue
    }
    if (last !== undefined) each(last.mark, last.at)
    last = { mark, at }
  }
  if (last !== undefined) each(last.mark, last.at)
}

const dotted = ({ label, tone }: Mark, at: number): string =>
  `<path class="k-${tone}" stroke-width="1.5" d="${shapeOf(tone, hundredths(at), height / 2, 5)}"><title>${markup(label)}</title></path>`
