/** Formats statistics as text for a terminal. */
import { visible } from "../text/Escape.ts"
import type { Stats } from "./Stats.ts"
import type { Column } from "../page/StillPage.ts"
import { errorColumns, errorRows, neverLine, sentences, toolColumns, toolRows } from "./words.ts"

/** The options of `format`. */
interface Options {
  /** Marks a heading, for instance as bold on a terminal. By default headings are plain. */
  readonly emphasise?: (text: string) => string
}

/** Makes the text, without a final line end. */
export const format = (stats: Stats, { emphasise = (text) => text }: Options = {}): string =>
  [
    sentences(stats).join("\n"),
    ...(stats.errors.length === 0 ? ["Nothing has failed."] : [table(errorColumns, errorRows(stats), emphasise)]),
    ...(stats.tools.length === 0 ? [] : [table(toolColumns, toolRows(stats), emphasise), visible(neverLine(stats))])
  ].join("\n\n")

const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  emphasise: (text: string) => string
): string => {
  // names come from files, so each is reduced to one line without control characters
  const safe = rows.map((row) => row.map((cell) => visible(cell).replaceAll(/\s+/g, " ")))
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
