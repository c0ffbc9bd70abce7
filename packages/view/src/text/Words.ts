/**
 * Formats times, counts and amounts as short words, and cuts texts to one line.
 *
 * @internal
 */

/** A text in one line, cut to a length. */
export const clip = (text: string, length = 80): string => {
  const line = text
    .slice(0, length * 4)
    .replaceAll(/\s+/g, " ")
    .trim()
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`
}

/** A verdict in words: `fix`, or `retry gave up`. */
export const decided = (verdict: string, gaveUp: boolean): string => (gaveUp ? `${verdict} gave up` : verdict)

/** A duration in words, rounded: `250 ms`, `1.2 s`, `3 min 5 s`, `2 h 3 min`, `4 d 2 h`. */
export const duration = (millis: number): string => {
  if (!Number.isFinite(millis)) return "?"
  if (millis < 0) return `-${duration(-millis)}`
  if (millis < 1) return `${Number(millis.toPrecision(2))} ms`
  if (millis < 999.5) return `${Math.round(millis)} ms`
  const seconds = millis / 1000
  if (seconds < 59.95) return `${Number(seconds.toFixed(seconds < 9.995 ? 2 : 1))} s`
  const whole = Math.round(seconds)
  const first = units.findIndex(([, size]) => whole >= size)
  return inUnits(1000 * whole, units.slice(first, first + 2))
}

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1]
] as const

/** A time in these units. A unit of which there is none is left out; seconds have their fraction. */
const inUnits = (millis: number, some: ReadonlyArray<(typeof units)[number]>): string => {
  let rest = millis
  const words: Array<string> = []
  for (const [unit, seconds] of some) {
    const size = 1000 * seconds
    const many = unit === "s" ? rest / size : Math.floor(rest / size)
    if (many > 0) words.push(`${many} ${unit}`)
    rest -= many * size
  }
  return words.join(" ")
}

/** The time since a beginning, exact to the millisecond: `2 h 56 min 1.204 s`. So times that differ by a millisecond read differently. */
export const moment = (millis: number): string => {
  if (!Number.isFinite(millis)) return "?"
  if (millis < 0) return `-${moment(-millis)}`
  if (millis < 999.9995) return `${Number(millis.toFixed(3))} ms`
  return inUnits(Math.round(millis), units)
}

// one formatter for all counts, because `toLocaleString` makes one for each
const grouped = new Intl.NumberFormat("en-US")

/** A count with its noun, in the singular or the plural. */
export const count = (many: number, one: string, more = `${one}s`): string =>
  `${grouped.format(many)} ${many === 1 ? one : more}`

/** An amount in US dollars, with enough digits that a small amount does not read as 0. */
export const money = (cost: number): string => {
  if (cost === 0) return "$0"
  if (Math.abs(cost) >= 0.995) return `$${cost.toFixed(2)}`
  return `$${Number(cost.toPrecision(2)).toLocaleString("en-US", { maximumFractionDigits: 12 })}`
}
