/**
 * How runs ended over time: counts for each minute, which add up, and the bars of a drawing and of a text.
 *
 * @internal
 */
import { hundredths } from "../drawing/Bars.ts"
import { markup } from "../text/Escape.ts"
import { duration } from "../text/Words.ts"

/** How many outermost runs ended within a minute. */
export type Minute = {
  /** The minute, counted from the epoch. */
  readonly minute: number
  readonly completed: number
  readonly failed: number
  /** How many were interrupted or suspended, or have no terminal event. */
  readonly others: number
}

/** The counts of one run, by the instant of its last event. A time that is no number has none. */
export const minuteOf = (at: number, end: string): ReadonlyArray<Minute> => {
  const minute = Math.floor(at / 60_000)
  if (!Number.isFinite(minute)) return []
  const [completed, failed] = [end === "completed" ? 1 : 0, end === "failed" ? 1 : 0]
  return [{ minute, completed, failed, others: 1 - completed - failed }]
}

export const minuteKey = ({ minute }: Minute): string => String(minute)

export const addMinutes = (a: Minute, b: Minute): Minute => ({
  minute: a.minute,
  completed: a.completed + b.completed,
  failed: a.failed + b.failed,
  others: a.others + b.others
})

/** The runs over time in equal steps. */
export interface OverTime {
  /** The bounds, in milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  /** The length of a step, in milliseconds. */
  readonly step: number
  readonly bins: ReadonlyArray<Omit<Minute, "minute">>
}

/** The lengths of a step, in minutes. Longer ones are whole days. */
const lengths = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440]

/** At most so many steps; `undefined` if all runs ended within one minute. */
export const overTime = (minutes: ReadonlyArray<Minute>, most: number): OverTime | undefined => {
  let [first, last] = [Infinity, -Infinity]
  for (const { minute } of minutes) {
    first = Math.min(first, minute)
    last = Math.max(last, minute)
  }
  if (!(last > first)) return undefined
  const least = (last - first + 1) / Math.max(1, most - 1)
  const length = lengths.find((length) => length >= least) ?? 1440 * Math.ceil(least / 1440)
  const begin = Math.floor(first / length) * length
  const bins = Array.from({ length: Math.floor((last - begin) / length) + 1 }, () => ({
    completed: 0,
    failed: 0,
    others: 0
  }))
  for (const { completed, failed, minute, others } of minutes) {
    const bin = bins[Math.floor((minute - begin) / length)]
    if (bin === undefined) continue
    bin.completed += completed
    bin.failed += failed
    bin.others += others
  }
  return { from: begin * 60_000, to: (begin + bins.length * length) * 60_000, step: length * 60_000, bins }
}

/** An instant as UTC, to the minute: `2026-11-21 22:39 UTC`. An instant beyond the calendar has none. */
export const instant = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? "?" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`
}

const blocks = "▁▂▃▄▅▆▇█"

/** The failed runs of each step as blocks, `·` where none failed and a space where no run ended, with the bounds in words. */
export const textOf = ({ bins, from, step, to }: OverTime): string => {
  const most = Math.max(...bins.map(({ failed }) => failed))
  const line = bins.map(({ completed, failed, others }) =>
    failed > 0 ? blocks.charAt(Math.ceil((failed / most) * blocks.length) - 1) : completed + others > 0 ? "·" : " "
  )
  return `Failed runs per ${duration(step)}, at most ${most}:\n${instant(from)} │${line.join("")}│ ${instant(to)}`
}

const high = 44

/** Draws a bar for each step, with completed runs below, failed ones on them and others on top. */
export const barsOf = ({ bins, from, step, to }: OverTime, y: number, left: number, width: number): string => {
  const most = Math.max(...bins.map(({ completed, failed, others }) => completed + failed + others))
  const room = width / bins.length
  const parts = bins.map(({ completed, failed, others }, index) => {
    let top = y + high
    const shapes = [
      ["tool", completed],
      ["failed", failed],
      ["run", others]
    ].map(([fill, many]) => {
      const tall = hundredths((Number(many) / most) * high)
      if (tall === 0) return ""
      top = hundredths(top - tall)
      const [x, wide] = [hundredths(left + index * room), hundredths(Math.max(1, room - 1))]
      return `<rect class="k-${fill}" x="${x}" y="${top}" width="${wide}" height="${tall}"/>`
    })
    const says = `${instant(from + index * step)}: ${completed} completed, ${failed} failed, ${others} others`
    return completed + failed + others === 0 ? "" : `<g><title>${markup(says)}</title>${shapes.join("")}</g>`
  })
  const baseline = y + high + 14
  return [
    ...parts,
    `<path class="k-line" d="M${left} ${y + high + 0.5}H${left + width}"/>`,
    `<text class="k-quiet k-small" x="${left}" y="${baseline}">${instant(from)}</text>`,
    `<text class="k-quiet k-small" x="${left + width}" y="${baseline}" text-anchor="end">${instant(to)}</text>`
  ].join("")
}

/** The height that `barsOf` takes. */
export const barsHeight = high + 20
