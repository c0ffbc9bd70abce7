/** A policy as one HTML file without a script. It has the drawing, and tables that tell the same. */
import * as Duration from "effect/Duration"
import type { Explanation } from "@kintsugi/core/Explanation"
import * as Svg from "./PolicySvg.ts"
import type { View } from "./PolicyView.ts"
import { boundsLine, duration, rangeOf, remarksOf, runLine, type Stack } from "./words.ts"
import { drawings, heading, page, paragraph, phone, table } from "../page/StillPage.ts"

/** The options of `make`. */
interface Options {
  /** The title of the page; by default the title of the view. */
  readonly title?: string
  /** The most attempts that are listed for each stack; 200 by default. */
  readonly maxRows?: number
}

/** Makes the text of one HTML page. It has no script; it shows the picture, the waits and the bounds of each stack. */
export const make = (view: View, { maxRows = 200, title = view.title }: Options = {}): string =>
  page(
    title,
    [
      drawings(Svg.draw(view), Svg.draw(view, { width: phone })),
      ...view.stacks.flatMap((stack) => sectionsOf(stack, maxRows, title)),
      ...(view.run === undefined
        ? []
        : [paragraph(`A run, at worst: ${runLine(view.run, Duration.toMillis(view.run.time))}.`)])
    ].join("\n")
  )

const rungColumns = [
  { heading: "row" },
  { heading: "rung" },
  { heading: "waits" },
  { heading: "fixer runs", isNumber: true },
  { heading: "model calls", isNumber: true }
]

const attemptColumns = [{ heading: "attempt" }, { heading: "begins after", isNumber: true }]

const sectionsOf = (
  { attempts, bounds, layers, title, ...stack }: Stack,
  maxRows: number,
  pageTitle: string
): ReadonlyArray<string> => [
  // the title of a page with one stack says this already
  ...(title === pageTitle ? [] : [heading(title)]),
  paragraph(`At worst: ${boundsLine(bounds)}.`),
  ...remarksOf({ attempts, bounds, layers, title, ...stack }).map(paragraph),
  ...layers.map(({ explanation, name }) =>
    table(`The table of ${name}`, rungColumns, explanation.rows.flatMap(rungsOf))
  ),
  table(
    `When each attempt begins, if every one fails at once${attempts.length > maxRows ? `: the first ${maxRows}` : ""}`,
    attemptColumns,
    attempts.slice(0, maxRows).map((attempt) => [attempt.path.join("."), rangeOf(attempt)])
  )
]

const personLine = ({ time, times }: { readonly time: Duration.Duration; readonly times: number }): string => {
  const long = Duration.isFinite(time) ? `, up to ${duration(Duration.toMillis(time))} in all` : ""
  return `for a person, ${times === 1 ? "once" : `${times} times`}${long}`
}

const rungsOf = ({ key, rungs }: Explanation["rows"][number]): ReadonlyArray<ReadonlyArray<string>> =>
  rungs.map(({ asks, compactions = 0, fixerRuns, modelCalls, unknown, verdict, waits }, index) => [
    key,
    `${index + 1} ${verdict}`,
    unknown ??
      (asks === undefined
        ? waits
            .map(({ least, most }) => rangeOf({ earliest: Duration.toMillis(least), latest: Duration.toMillis(most) }))
            .join(", ")
        : personLine(asks)),
    String(fixerRuns),
    String((fixerRuns + compactions) * modelCalls)
  ])
