/**
 * The time axis of a drawing. Time is drawn to scale, except for long gaps in which no item is at work: they are drawn short. Otherwise a
 * run that waited a day for its approval would be too small to see.
 *
 * @internal
 */
import { utcTicks } from "d3-time"
import { bisectRight } from "d3-array"
import type { Gap } from "../scene/Shapes.ts"
import { moment } from "../text/Words.ts"

/**
 * Converts between times and positions on the axis. Positions are milliseconds too, begin at 0, and count each gap as short as it is drawn.
 * Later times have later positions.
 */
export interface Axis {
  readonly length: number
  readonly toDrawn: (time: number) => number
  readonly toTime: (drawn: number) => number
  /** The gaps that are drawn short. */
  readonly breaks: ReadonlyArray<Break>
}

/** A gap that is drawn short, with its positions on the axis. */
export interface Break extends Gap {
  readonly start: number
  readonly end: number
}

/**
 * A tick of the axis: its position, and a label with the time since the beginning. After a break, the label begins with `+` and counts from
 * the end of the break.
 */
export interface Tick {
  readonly drawn: number
  readonly label: string
}

/** Makes the axis of a scene. Each gap is drawn as long as a fortieth of all other time. */
export const make = (scene: {
  readonly from: number
  readonly to: number
  readonly gaps: ReadonlyArray<Gap>
}): Axis => {
  const { from, gaps, to } = scene
  const rest = to - from - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const short = Math.max(1, rest / 40)
  const breaks: Array<Break> = []
  let saved = 0
  for (const gap of gaps) {
    const start = gap.from - from - saved
    saved += Math.max(0, gap.to - gap.from - short)
    breaks.push({ ...gap, start, end: gap.to - from - saved })
  }
  const froms = breaks.map((gap) => gap.from)
  const starts = breaks.map(({ start }) => start)
  return {
    length: Math.max(1, to - from - saved),
    breaks,
    toDrawn: (time) => {
      const gap = breaks[bisectRight(froms, time) - 1]
      if (gap === undefined) return time - from
      if (time >= gap.to) return gap.end + (time - gap.to)
      return gap.start + ((time - gap.from) / (gap.to - gap.from)) * (gap.end - gap.start)
    },
    toTime: (drawn) => {
      const gap = breaks[bisectRight(starts, drawn) - 1]
      if (gap === undefined) return from + drawn
      if (drawn >= gap.end) return gap.to + (drawn - gap.end)
      return gap.from + ((drawn - gap.start) / (gap.end - gap.start)) * (gap.to - gap.from)
    }
  }
}

/** How many letters a label may have in the room of one tick. */
const letters = 15

/** Makes about `count` ticks between two positions of the axis, at round times; fewer if their labels are long. */
export const ticks = (axis: Axis, start: number, end: number, count: number): ReadonlyArray<Tick> => {
  // Mutant `false` survives: no stretch has a share then
  if (!(end > start)) return []
  const origin = axis.toTime(0)
  const edges = [
    start,
    // Mutants `gap.end >= start`, `gap.start <= end` survive: the stretch before or behind such a gap has no share
    ...axis.breaks.flatMap((gap) => (gap.end > start && gap.start < end ? [gap.start, gap.end] : [])),
    end
  ]
  const found: Array<Tick> = []
  const slot = (end - start) / count
  for (let at = 0; at < edges.length - 1; at += 2) {
    const [first = 0, last = 0] = [edges[at], edges[at + 1]]
    const isLater = axis.breaks.some((gap) => gap.end === first)
    const share = Math.round((count * (last - first)) / (end - start))
    if (share < 1) continue
    // after a break, labels count from its end
    const base = isLater ? axis.toTime(first) : origin
    const [begin, stop] = [axis.toTime(first) - base, axis.toTime(last) - base]
    const times = utcTicks(new Date(begin), new Date(stop), share)
      .map((date) => date.getTime())
      // Mutant `true` for `time <= stop` survives: d3 gives no time behind the end
      .filter((time) => time >= begin && time <= stop)
    const labelled = times.map((time) => ({
      drawn: axis.toDrawn(base + time),
      label: `${isLater ? "+" : ""}${label(time)}`
    }))
    const longest = Math.max(...labelled.map(({ label }) => label.length))
    const least = slot * Math.max(1 / 3, longest / letters)
    for (const tick of labelled) if (tick.drawn - (found.at(-1)?.drawn ?? -Infinity) >= least) found.push(tick)
  }
  return found
}

const label = (millis: number): string => (millis === 0 ? "0" : moment(millis))
