/**
 * The ratios of past records, a line for each commit. A loss of one per cent at each commit stays within every margin of `bench:check`; it
 * shows here.
 *
 *   npm run bench:history                     the last five of each ratio, and what got worse over them
 *   npm run bench:history -- "happy turn"     those of rows whose name has this in it
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { format, type Results } from "./figures.ts"
import { median } from "./harness.ts"

/** The ratios that were recorded at a commit, by row and name. Of all that are kept, less is better. */
export interface Past {
  readonly commit: string
  readonly date: string
  readonly processor: string
  readonly ratios: Readonly<Record<string, number>>
}

const path = fileURLToPath(new URL("../history.jsonl", import.meta.url))
const window = 5
/** From this loss on, over as many commits, a ratio gets worse. */
const most = 0.05

export const past = (): ReadonlyArray<Past> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
    : []

/** Adds a record. A second one of the same commit takes the place of the first; rows that it does not have stay. */
export const added = (all: ReadonlyArray<Past>, one: Past): ReadonlyArray<Past> => {
  const before = all.find(({ commit }) => commit === one.commit)
  return [...all.filter((other) => other !== before), { ...one, ratios: { ...before?.ratios, ...one.ratios } }]
}

/** Adds what a commit has measured, and writes the file. */
export const remember = (commit: string, { date, processor, rows }: Results): void => {
  const kept = rows.flatMap(({ figures, row }) =>
    figures.filter(({ margin }) => margin !== undefined).map(({ name, value }) => [`${row}: ${name}`, value] as const)
  )
  const all = added(past(), { commit, date, processor, ratios: Object.fromEntries(kept) })
  writeFileSync(path, all.map((line) => `${JSON.stringify(line)}\n`).join(""))
}

/** A ratio over the last commits that recorded it. */
export interface Course {
  readonly name: string
  readonly values: ReadonlyArray<number>
  /** By which share it got worse over these commits; negative if it got better. Absent below five values. */
  readonly loss: number | undefined
}

/**
 * The loss along the line through the values whose slope is the median of the slopes of all pairs (Theil and Sen): one value that is off
 * does not move it.
 */
export const lossOf = (values: ReadonlyArray<number>): number | undefined => {
  if (values.length < window) return undefined
  const slopes = values.flatMap((from, i) => values.slice(i + 1).map((to, k) => (to - from) / (k + 1)))
  return (median(slopes) * (values.length - 1)) / median(values)
}

export const courses = (all: ReadonlyArray<Past>): ReadonlyArray<Course> => {
  const names = new Set(all.flatMap(({ ratios }) => Object.keys(ratios)))
  return [...names].map((name) => {
    const values = all.flatMap(({ ratios }) => ratios[name] ?? []).slice(-window)
    return { name, values, loss: lossOf(values) }
  })
}

export const isLost = ({ loss }: Course): boolean => loss !== undefined && loss > most

export const lineOf = ({ loss, name, values }: Course): string => {
  const trend = loss === undefined ? "" : `${loss > 0 ? "+" : ""}${(loss * 100).toFixed(1)} %`
  const verdict = loss !== undefined && loss > most ? "worse" : ""
  return `${name.padEnd(72)}${values.map((value) => format(value).padStart(8)).join("")}${trend.padStart(10)}  ${verdict}`.trimEnd()
}

if (import.meta.main) {
  const [part = ""] = process.argv.slice(2)
  const all = past()
  const commits = all.slice(-window).map(({ commit, date }) => `${commit} (${date})`)
  process.stdout.write(`${commits.join(", ")}\n`)
  for (const course of courses(all)) if (course.name.includes(part)) process.stdout.write(`${lineOf(course)}\n`)
}
