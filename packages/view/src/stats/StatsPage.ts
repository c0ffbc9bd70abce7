/** Statistics as one HTML file without a script. It has the drawing, and tables that tell the same. */
import type { Stats } from "./Stats.ts"
import * as Svg from "./StatsSvg.ts"
import { comparison, headline, type List, listsOf, type ReportOf } from "./Lists.ts"
import { errorColumns, errorRows, neverLine, sentences, toolColumns, toolRows } from "./words.ts"
import { drawings, heading, lead, page, paragraph, phone, table } from "../page/StillPage.ts"

/** The options of `make`. */
interface Options {
  /** The title of the page; by default how many runs failed. */
  readonly title?: string
  /** The statistics of other runs, to show before those of `stats`. */
  readonly before?: Stats
  /** Where the report of an example is: a path relative to the page. */
  readonly reportOf?: ReportOf
}

/** Makes the text of the page. */
export const make = (stats: Stats, { before, reportOf, title = headline(stats).slice(0, -1) }: Options = {}): string =>
  page(
    title,
    [
      ...(title === headline(stats).slice(0, -1) ? [] : [lead(headline(stats))]),
      ...(before === undefined ? [] : listed(comparison(before, stats))),
      ...listsOf(stats, reportOf).flatMap(listed),
      heading("Errors"),
      drawings(Svg.draw(stats), Svg.draw(stats, { width: phone })),
      table("What has failed, and what healed it", errorColumns, errorRows(stats)),
      heading("Tools"),
      table("Calls of each tool", toolColumns, toolRows(stats)),
      paragraph(neverLine(stats)),
      heading("Totals"),
      ...sentences(stats).map(paragraph)
    ].join("\n")
  )

const listed = ({ caption, columns, nothing, rows, title }: List): ReadonlyArray<string> => [
  heading(title),
  rows.length === 0 ? paragraph(nothing) : table(caption, columns, rows)
]
