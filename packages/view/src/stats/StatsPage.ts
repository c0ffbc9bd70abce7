/** Statistics as one HTML file without a script. It has the drawing, and tables that tell the same. */
import type { Stats } from "./Stats.ts"
import * as Svg from "./StatsSvg.ts"
import { errorColumns, errorRows, neverLine, sentences, toolColumns, toolRows } from "./words.ts"
import { heading, page, paragraph, table } from "../page/StillPage.ts"

/** The options of `make`. */
interface Options {
  /** The title of the page; `Recovery in many runs` by default. */
  readonly title?: string
}

/** Makes the text of the page. */
export const make = (stats: Stats, { title = "Recovery in many runs" }: Options = {}): string =>
  page(
    title,
    [
      ...sentences(stats).map(paragraph),
      paragraph(neverLine(stats)),
      Svg.draw(stats),
      heading("Errors"),
      table("What has failed, and what healed it", errorColumns, errorRows(stats)),
      heading("Tools"),
      table("Calls of each tool", toolColumns, toolRows(stats))
    ].join("\n")
  )
