/** Formats statistics as text for a terminal. */
import { visible } from "../text/Escape.ts"
import { overTime, textOf } from "./overTime.ts"
import type { Stats } from "./Stats.ts"
import type { Cell, Column } from "../page/StillPage.ts"
import { comparison, headline, type List, listsOf, type ReportOf } from "./Lists.ts"
import { errorColumns, errorRows, neverLine, sentences, toolColumns, toolRows } from "./words.ts"

/** The options of `format`. */
interface Options {
  /** Marks a heading, for instance as bold on a terminal. By default headings are plain. */
  readonly emphasise?: (text: string) => string
  /** The statistics of other runs, to show before those of `stats`. */
  readonly before?: Stats
  /** Where the report of an example is. */
  readonly reportOf?: ReportOf
}

/** Makes the text, without a final line end. */
export const format = (stats: Stats, { before, emphasise = (text) => text, reportOf }: Options = {}): string => {
  const listed = ({ columns, nothing, rows, title }: List): string =>
    rows.length === 0 ? nothing : `${emphasise(title)}\n${table(columns, rows, emphasise)}`
  const time = stats.runs.failed === 0 ? undefined : overTime(stats.minutes, 40)
  return [
    headline(stats),
    ...(time === undefined ? [] : [textOf(time)]),
    ...(before === undefined ? [] : [listed(comparison(before, stats))]),
    ...listsOf(stats, reportOf).map(listed),
    ...(stats.errors.length === 0
      ? ["Nothing has failed."]
      : [`${emphasise("Errors")}\n${table(errorColumns, errorRows(stats), emphasise)}`]),
    ...(stats.tools.length === 0
      ? []
      : [`${emphasise("Tools")}\n${table(toolColumns, toolRows(stats), emphasise)}`, visible(neverLine(stats))]),
    sentences(stats).join("\n")
  ].join("\n\n")
}

const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  emphasise: (text: string) => string
): string => {
  // names come from files, so each is reduced to one line without control characters
  const safe = rows.map((row) =>
    row.map((cell) => visible(typeof cell === "string" ? cell : cell.text).replaceAll(/\s+/g, " "))
  )
  const all = [columns.map(({ heading }) => heading), ...safe]
  const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const [head = "", ...lines] = all.map((row) =>
    row
      .map((cell, column) =>
        columns[column]?.isNumber === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
      )
      .join("  ")
      .trimEnd()
  )
  return [emphasise(head), ...lines].join("\n")
}
