/** Formats a comparison as text for a terminal. */
import { visible } from "../text/Escape.ts"
import type { Comparison, Pair } from "./Comparison.ts"
import { cellOf, changed, divergenceOf, exactness, type Labels, stepOf, sums, turnsOf } from "./ComparisonWords.ts"

/** The options of `format`. */
interface Options extends Labels {
  /** Marks a line, for instance as bold on a terminal. By default lines are plain. */
  readonly emphasise?: (text: string) => string
}

/** The most steps that are listed one by one. */
const most = 400

/** How many equal steps are listed before and behind a step that differs. */
const around = 2

/** Makes the text, without a final line end. Runs of equal steps are folded to one line. */
export const format = (comparison: Comparison, { emphasise = (text) => text, ...labels }: Options): string => {
  const header = table([["", labels.first, labels.second, "difference"], ...sums(comparison)])
  const settings = changed(comparison).map(([title, lines]) =>
    [
      emphasise(title),
      ...lines.filter(({ sign }) => sign !== " ").map(({ sign, text }) => oneLine(`${sign} ${text}`))
    ].join("\n")
  )
  return [
    header.map((line, index) => (index === 0 ? emphasise(line) : line)).join("\n"),
    [divergenceOf(comparison, labels), exactness(comparison)]
      .filter((line) => line !== "")
      .map(oneLine)
      .join("\n"),
    steps(comparison, labels, emphasise),
    ...settings
  ].join("\n\n")
}

const steps = ({ divergence, pairs }: Comparison, labels: Labels, emphasise: (text: string) => string): string => {
  const isNear = nearOf(pairs)
  const rows: Array<ReadonlyArray<string> | string> = [["", "turn", "step", labels.first, labels.second]]
  const marked = new Set<number>()
  let equal = 0
  const fold = () => {
    if (equal > 0) rows.push(`  … ${equal} equal ${equal === 1 ? "step" : "steps"}`)
    equal = 0
  }
  for (const [index, pair] of pairs.entries()) {
    if (!isNear[index]) {
      equal++
      continue
    }
    fold()
    if (rows.length > most) {
      rows.push(`  … and ${pairs.length - index} more`)
      break
    }
    if (index === divergence) marked.add(rows.length)
    rows.push([pair.sign, turnsOf(pair), stepOf(pair), cellOf(pair.first), cellOf(pair.second)])
  }
  fold()
  const lines = table(rows.filter((row) => typeof row !== "string"))
  let next = 0
  return rows
    .map((row, index) => {
      const line = typeof row === "string" ? row : (lines[next++] ?? "")
      return index === 0 || marked.has(index) ? emphasise(line) : line
    })
    .join("\n")
}

/** Whether each step differs, or is near one that does. */
const nearOf = (pairs: ReadonlyArray<Pair>): ReadonlyArray<boolean> => {
  const near = pairs.map(() => false)
  for (const [index, { sign }] of pairs.entries())
    if (sign !== "=") for (let at = index - around; at <= index + around; at++) if (at in near) near[at] = true
  return near
}

const oneLine = (text: string): string => visible(text).replaceAll(/\s+/g, " ")

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  // names come from files, so each is reduced to one line without control characters
  const safe = rows.map((row) => row.map(oneLine))
  const widths = (safe[0] ?? []).map((_, column) =>
    safe.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0)
  )
  return safe.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}
