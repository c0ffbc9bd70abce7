/** A policy as text. It shows its tables, when each attempt begins, and its bounds. */
import * as Explanation from "@kintsugi/core/Explanation"
import * as Duration from "effect/Duration"
import { visible } from "../text/Escape.ts"
import type { View } from "./PolicyView.ts"
import { count } from "../text/Words.ts"
import { boundsLine, duration, metOf, remarksOf, runLine, type Stack } from "./words.ts"

/** The options of `format`. */
interface Options {
  /** The most attempts that are listed; 20 by default. */
  readonly maxRows?: number
  /** Marks a heading, for instance as bold on a terminal. By default headings are plain. */
  readonly emphasise?: (text: string) => string
}

/** Makes a text for a terminal, without a final line end. Control characters in names are escaped. */
export const format = (view: View, { emphasise = (text) => text, maxRows = 20 }: Options = {}): string =>
  [
    ...view.stacks.flatMap((stack) => sectionsOf(stack, maxRows, emphasise)),
    ...(view.run === undefined
      ? []
      : [
          `${emphasise(inLine(`a run of ${view.title}`))}, at worst: ${runLine(view.run, Duration.toMillis(view.run.time))}`
        ])
  ].join("\n\n")

const inLine = (text: string): string => visible(text).replaceAll(/\s+/g, " ")

const sectionsOf = (stack: Stack, maxRows: number, emphasise: (text: string) => string): ReadonlyArray<string> => [
  ...stack.layers.map(({ explanation, name }) => {
    const heading = stack.layers.length === 1 ? stack.title : name
    return `${emphasise(inLine(heading))}\n${explanation.rows.length === 0 ? "no rows: one attempt" : visible(Explanation.format(explanation))}`
  }),
  `${emphasise("if every attempt fails at once")} (${inLine(metOf(stack))})\n${attemptsOf(stack, maxRows)}`,
  ...remarksOf(stack).map(inLine),
  ...(stack.layers.length === 1 ? [] : [`${emphasise("all layers together")}, at worst: ${boundsLine(stack.bounds)}`])
]

const attemptsOf = ({ attempts, best, worst }: Stack, maxRows: number): string => {
  const varies = best.end !== worst.end
  const head = varies ? ["attempt", "earliest", "latest"] : ["attempt", "begins at"]
  const lines = attempts
    .slice(0, maxRows)
    .map(({ earliest, latest, path }) => [
      path.join("."),
      ...(varies ? [duration(earliest), duration(latest)] : [duration(latest)])
    ])
  const table = [head, ...lines]
  const widths = head.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  const text = table.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
  )
  const left = attempts.length - lines.length
  return [...text, ...(left > 0 ? [`… and ${count(left, "more attempt")}`] : [])].join("\n")
}
