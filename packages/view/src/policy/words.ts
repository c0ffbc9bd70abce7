/** The words and figures that the text, the drawing and the page of a policy share. */
import * as Duration from "effect/Duration"
import { count, duration as lasting, money } from "../text/Words.ts"
import type { View } from "./PolicyView.ts"

/** One stack of layers of a policy. */
export type Stack = View["stacks"][number]

/** A duration in words. */
export const duration = (millis: number): string => (millis === 0 ? "0 s" : lasting(millis))

const grouped = (value: number): string => value.toLocaleString("en-US")

/** The bounds of all layers of a stack together, in one line. */
export const boundsLine = ({ factors, fixerRuns, modelCalls, requests, time, waits }: Stack["bounds"]): string =>
  [
    factors.length === 1
      ? count(requests, "attempt")
      : `${factors.map(grouped).join(" × ")} = ${count(requests, "attempt")}`,
    ...(fixerRuns === 0 ? [] : [count(fixerRuns, "fixer run")]),
    ...(modelCalls === 0 ? [] : [count(modelCalls, "model call")]),
    Number.isFinite(waits) ? `${duration(waits)} of waits` : "waits unknown",
    ...(time === waits || !Number.isFinite(time) ? [] : [`${duration(time)} in all if servers ask for it`])
  ].join(", ")

/** The bounds of a run, in one line. */
export const runLine = (run: NonNullable<View["run"]>, millis: number): string => {
  const { cost, fixerRuns = 0, modelCalls, perMessage, requests, toolCalls = 0, turns = 0 } = run
  return [
    ...(turns === 0 ? [] : [count(turns, "turn")]),
    ...(toolCalls === 0 ? [] : [count(toolCalls, "tool call")]),
    count(modelCalls, "model call"),
    ...(requests === modelCalls ? [] : [count(requests, "request")]),
    ...(fixerRuns === 0 ? [] : [count(fixerRuns, "fixer run")]),
    ...(cost === undefined ? [] : [`a cost of ${money(cost)}`]),
    Number.isFinite(millis) ? `${duration(millis)} of waits and timeouts` : "waits unknown",
    ...(perMessage === undefined
      ? []
      : [`${count(perMessage.modelCalls, "model call")} for each message that is checked (the input is one)`])
  ].join(", ")
}

/**
 * Remarks about a stack: why the waits of a row are unknown, that attempts are left out, that no wait is left to chance, or that a table has
 * further rows.
 */
export const remarksOf = ({ attempts, best, layers, worst }: Stack): ReadonlyArray<string> => [
  ...worst.lanes.flatMap(({ name, row, unknown }) =>
    unknown === undefined ? [] : [`${name}${row === undefined ? "" : ` (${row})`}: ${unknown}`]
  ),
  ...(worst.isCut ? [`more attempts follow: the first ${grouped(attempts.length)} are shown`] : []),
  ...(best.end === worst.end && !worst.isCut && worst.end > 0 ? [certain(layers)] : []),
  ...layers.flatMap(({ explanation, name }, index) => {
    const others = explanation.rows.map(({ key }) => key).filter((key) => key !== worst.lanes[index]?.row)
    return others.length === 0
      ? []
      : [`${name} also has ${others.length === 1 ? "a row" : "rows"} for ${others.join(", ")}`]
  })
]

/** What is said of the drawn waits if they are certain. Those of other rows may be left to chance. */
const certain = (layers: Stack["layers"]): string =>
  layers.some(({ explanation }) =>
    explanation.rows.some(({ rungs }) =>
      rungs.some(({ waits }) => waits.some(({ least, most }) => !equal(least, most)))
    )
  )
    ? "no wait of the drawn rows is left to chance"
    : "no wait is left to chance"

const equal = (one: Duration.Duration, other: Duration.Duration): boolean =>
  Duration.toMillis(one) === Duration.toMillis(other)

/** Which row each layer meets: `http meets NetworkError`. */
export const metOf = ({ worst }: Stack): string =>
  worst.lanes.map(({ name, row }) => (row === undefined ? `${name} has no row` : `${name} meets ${row}`)).join(", ")

/** The time at which an attempt begins: an instant, or a range if chance decides. */
export const rangeOf = ({ earliest, latest }: { readonly earliest: number; readonly latest: number }): string =>
  earliest === latest ? duration(latest) : `${duration(earliest)} – ${duration(latest)}`
