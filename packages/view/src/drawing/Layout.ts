/**
 * Computes the layout of a scene in pixels, for a visible stretch of its time. SVG and canvas share it. Items that are too narrow to tell
 * apart are drawn as one, so that a picture has about as many boxes as pixels at most.
 *
 * @internal
 */
import { bisector } from "d3-array"
import * as Axis from "./Axis.ts"
import { scaleOf, top } from "./scale.ts"
import type { Scene } from "../scene/Scene.ts"
import type { Layer, Mark, Part, Span, State, Tone, Track } from "../scene/Shapes.ts"

/** The visible stretch of the axis, between two positions of the axis. */
export interface Window {
  readonly start: number
  readonly end: number
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly layer: Layer
  readonly part: Part
  readonly state: State
  /** The id of the longest of the spans that are drawn as this box, and the number of these spans. */
  readonly item: number
  readonly many: number
}

export interface Dot {
  readonly x: number
  /** The y of the middle of the mark's row, and the height of the row. */
  readonly y: number
  readonly height: number
  readonly tone: Tone
  readonly item: number
  readonly many: number
}

export interface Row {
  readonly y: number
  readonly height: number
  readonly layer: Layer
  readonly spans: ReadonlyArray<Span>
  readonly marks: ReadonlyArray<Mark>
}

export interface Heading {
  readonly y: number
  readonly track: Track
}

export interface Caption {
  readonly y: number
  readonly height: number
  readonly layer: Layer
  readonly depth: number
}

/** The parts of the layout that do not depend on the visible stretch of time. */
export interface Sheet {
  readonly scene: Scene
  readonly axis: Axis.Axis
  readonly rows: ReadonlyArray<Row>
  readonly headings: ReadonlyArray<Heading>
  readonly captions: ReadonlyArray<Caption>
  readonly height: number
}

export { gutter, margin } from "./scale.ts"

/** Lengths of the layout, in pixels. */
const headingHeight = 24
const padding = 6
const rowHeights: Readonly<Record<Layer, number>> = { run: 9, turn: 14, model: 20, transport: 11, tool: 20, fixer: 12 }
const laneHeight = 150
const gapOfLanes = 5
const gapOfTracks = 8

/** The height of a row in pixels. If a lane has many rows, they are lower. */
const rowHeight = (layer: Layer, rows: number): number =>
  Math.max(4, Math.min(rowHeights[layer], Math.floor(laneHeight / rows)))

export const sheet = (scene: Scene): Sheet => {
  const rows: Array<Row> = []
  const headings: Array<Heading> = []
  const captions: Array<Caption> = []
  const perRow = byRow(scene)
  let y = top
  for (const track of scene.tracks) {
    headings.push({ y: y + headingHeight / 2, track })
    y += headingHeight
    for (const lane of scene.lanesOf[track.id] ?? []) {
      const height = rowHeight(lane.layer, lane.rows)
      captions.push({ y, height: height * lane.rows, layer: lane.layer, depth: track.depth })
      for (const row of perRow[lane.id] ?? []) {
        rows.push({ y, height, layer: lane.layer, ...row })
        y += height
      }
      y += gapOfLanes
    }
    y += gapOfTracks
  }
  return { scene, axis: Axis.make(scene), rows, headings, captions, height: y + padding }
}

const byRow = (scene: Scene) => {
  const found = scene.lanes.map(({ rows }) =>
    Array.from({ length: rows }, () => ({ spans: new Array<Span>(), marks: new Array<Mark>() }))
  )
  for (const item of scene.items) {
    const row = found[item.lane]?.[item.row]
    if (item.shape === "span") row?.spans.push(item)
    else row?.marks.push(item)
  }
  return found
}

/** The visible stretch that shows the whole scene, with a little room on both sides. */
export const whole = ({ axis }: Sheet): Window => ({ start: -axis.length * 0.005, end: axis.length * 1.005 })

const spanAfter = bisector((span: Span, time: number) => span.to - time)
const markAfter = bisector((mark: Mark, time: number) => mark.at - time)

/** Boxes that are narrower than this many pixels are drawn as one with their neighbours. */
const least = 1.5
const apart = 8

/** Computes the visible boxes of a row, and calls `each` with each of them. */
export const boxesOf = (sheet: Sheet, row: Row, width: number, window: Window, each: (box: Box) => void): void => {
  const { toDrawn, toTime } = sheet.axis
  const { left, right, x } = scaleOf(width, window)
  const first = spanAfter.left(row.spans, toTime(window.start))
  const until = toTime(window.end)
  const { height, layer, y } = row
  let [from, to, many] = [0, -Infinity, 0]
  let heaviest: Span | undefined
  let [failed, lasted] = [0, 0]
  const flush = () => {
    if (heaviest === undefined) return
    const { id, part } = heaviest
    // several spans are drawn as one box: the box is failed if failed spans have most of the time
    const state =
      many > 1 ? (failed * 2 > lasted ? "failed" : heaviest.state === "failed" ? "ok" : heaviest.state) : heaviest.state
    each({ x: from, y, width: Math.max(least, to - from), height, layer, part, state, item: id, many })
    heaviest = undefined
  }
  const count = (span: Span) => {
    if (span.part === "wait") return
    lasted += span.to - span.from
    if (span.state === "failed") failed += span.to - span.from
  }
  for (let at = first; at < row.spans.length; at++) {
    const span = row.spans[at]
    if (span === undefined || span.from > until) break
    const start = Math.max(left - 2, x(toDrawn(span.from)))
    const end = Math.min(right + 2, x(toDrawn(span.to)))
    const isNarrow = end - start < least
    // Mutant `true` for `heaviest !== undefined` survives: the first box is far from the left edge of the drawing
    if (heaviest !== undefined && isNarrow && to - from < 3 && start - from < 2) {
      to = Math.max(to, end)
      many++
      count(span)
      if (weight(span) > weight(heaviest)) heaviest = span
      continue
    }
    flush()
    ;[from, to, many, failed, lasted] = [start, end, 1, 0, 0]
    count(span)
    heaviest = span
  }
  flush()
}

/** The weight of a span. Of several spans that are drawn as one box, the heaviest gives its label. */
const weight = ({ from, part, to }: Span): number => (part === "wait" ? -1 : to - from)

/** Computes the visible marks of a row, and calls `each` with each of them. Marks that would cover each other are drawn as one. */
export const dotsOf = (sheet: Sheet, row: Row, width: number, window: Window, each: (dot: Dot) => void): void => {
  const { toDrawn, toTime } = sheet.axis
  const { x } = scaleOf(width, window)
  const until = toTime(window.end)
  const begin = markAfter.left(row.marks, toTime(window.start))
  // if the marks would fill more than half of the width, they are drawn with more room between them
  const seen = markAfter.left(row.marks, until) - begin
  const least = seen * apart > width / 2 ? 4 * apart : apart
  const [y, height] = [row.y + row.height / 2, row.height]
  let foremost: Mark | undefined
  let [left, many] = [0, 0]
  const flush = () => {
    if (foremost !== undefined) each({ x: left, y, height, tone: foremost.tone, item: foremost.id, many })
  }
  for (let at = begin; at < row.marks.length; at++) {
    const mark = row.marks[at]
    if (mark === undefined || mark.at > until) break
    const px = x(toDrawn(mark.at))
    // Mutant `true` for `foremost !== undefined` survives: the first mark is far from the left edge of the drawing
    if (foremost !== undefined && px - left < least) {
      many++
      if (importance[mark.tone] > importance[foremost.tone]) foremost = mark
      continue
    }
    flush()
    ;[foremost, left, many] = [mark, px, 1]
  }
  flush()
}

const importance: Readonly<Record<Tone, number>> = { note: 0, tell: 1, asked: 2, mended: 3, lost: 4 }
