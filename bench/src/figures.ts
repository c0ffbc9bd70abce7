/** What a row of the table says of itself, and how that is kept and compared. */
import { appendFileSync } from "node:fs"
import { differences, interval, median, type Measure, ratio, type Samples, spread, typical } from "./harness.ts"

/** One number. Those that depend on the machine are printed; those with an `id` are compared from run to run. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The target, if there is one: at most this, or at least. */
  readonly most?: number
  readonly least?: number
  /** By which share it may be worse than what was recorded before a check fails; not compared without. */
  readonly margin?: number
  /** How far single laps lay from the median, as a share. */
  readonly spread?: number
  /** The 95 % confidence interval of a median. */
  readonly interval?: readonly [low: number, high: number]
}

export interface Row {
  readonly row: string
  readonly figures: ReadonlyArray<Figure>
}

/** What was measured, and where. */
export interface Results {
  readonly date: string
  readonly node: string
  readonly cores: number
  readonly processor: string
  readonly rows: ReadonlyArray<Row>
}

/** A row, and on which day and machine it was measured. */
export interface RecordedRow extends Row {
  readonly at: string
}

/** The variable with the file in which a row leaves its figures for the process that started it. */
export const FIGURES = "KINTSUGI_BENCH_FIGURES"

export const isMissed = ({ least, most, value }: Figure): boolean =>
  Number.isNaN(value) || (most !== undefined && value > most) || (least !== undefined && value < least)

export const format = (value: number): string =>
  value >= 1000 ? value.toFixed(0) : value >= 100 ? value.toFixed(1) : value.toFixed(2)

/** What is said of the noise of a figure: its interval, or how far single laps lay from the median. */
export const noiseOf = ({ interval, spread }: Figure): string =>
  interval !== undefined
    ? `${format(interval[0])} to ${format(interval[1])}`
    : spread === undefined
      ? ""
      : `± ${(spread * 100).toFixed(0)} %`

const lineOf = (figure: Figure): string => {
  const { least, most, name, unit, value } = figure
  const target = most !== undefined ? `at most ${most}` : least !== undefined ? `at least ${least}` : ""
  const noise = noiseOf(figure)
  const verdict = target === "" ? "" : isMissed(figure) ? "missed" : "ok"
  return `  ${name.padEnd(56)}${format(value).padStart(9)} ${unit.padEnd(4)}${noise.padStart(8)}  ${target.padEnd(16)}${verdict}`.trimEnd()
}

/** Prints a row, and leaves it to the process that started it. */
export const report = (row: string, figures: ReadonlyArray<Figure>): void => {
  process.stdout.write(`${row}\n${figures.map((figure) => `${lineOf(figure)}\n`).join("")}`)
  const path = process.env[FIGURES]
  const written: Row = { row, figures }
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(written)}\n`)
}

/** What one unit of a portion took, on the clock and of the processor. */
export const each = (samples: Samples, name: string, units: number): ReadonlyArray<Figure> => [
  { name, value: (typical(samples, name) * 1000) / units, unit: "µs" },
  { name: `${name}, processor`, value: (typical(samples, name, "cpu") * 1000) / units, unit: "µs" }
]

export interface Target {
  readonly most?: number
  readonly least?: number
  readonly margin?: number
  readonly measure?: Measure
}

/** How often longer one took than another, with its noise. */
export const times = (
  name: string,
  samples: Samples,
  [one, other]: readonly [string, string],
  { measure = "wall", ...target }: Target = {}
): Figure => ({
  name,
  value: ratio(samples, one, other, measure),
  unit: "×",
  spread: spread(samples, one, other, measure),
  ...target
})

/** By how many microseconds a unit of one took longer than a unit of another: the median of the laps, with its interval. */
export const beyond = (
  name: string,
  samples: Samples,
  [one, other]: readonly [string, string],
  { most, units }: { readonly units: number; readonly most?: number }
): Figure => {
  const each = differences(samples, one, other, "cpu").map((millis) => (millis * 1000) / units)
  return { name, value: median(each), unit: "µs", interval: interval(each), ...(most === undefined ? {} : { most }) }
}

export { median }
