/** A comparison in words, for text and pages. */
import * as Outcome from "../recording/Outcome.ts"
import { clip, count, duration, money } from "../text/Words.ts"
import type { Comparison, Pair } from "./Comparison.ts"
import type { Step } from "./steps.ts"

/** The names of both recordings. */
export interface Labels {
  readonly first: string
  readonly second: string
}

/** The rows of the header: what is compared, both values, and the difference. */
export const sums = ({ first, second }: Comparison): ReadonlyArray<ReadonlyArray<string>> => {
  const outcomes = [first, second].map(({ outcome }) => (outcome === undefined ? "none" : Outcome.titleOf(outcome)))
  const [before = "", after = ""] = outcomes
  return [
    ["Outcome", before, after, before === after ? "same" : "≠"],
    row("Duration", first.lasted, second.lasted, duration),
    row("Steps", first.steps, second.steps, String),
    row("Failures", first.failures, second.failures, String),
    row("Tokens", first.tokens, second.tokens, (tokens) => tokens.toLocaleString("en-US")),
    row("Cost", first.cost, second.cost, money)
  ]
}

const row = (
  title: string,
  before: number | undefined,
  after: number | undefined,
  format: (value: number) => string
): ReadonlyArray<string> => {
  const words = (value: number | undefined) => (value === undefined ? "unknown" : format(value))
  const difference = before === undefined || after === undefined ? undefined : after - before
  const sign = difference === undefined || difference === 0 ? "" : difference > 0 ? "+" : "−"
  const change = difference === undefined ? "?" : difference === 0 ? "same" : `${sign}${format(Math.abs(difference))}`
  return [title, words(before), words(after), change]
}

/** The first step that differs, in one sentence. */
export const divergenceOf = ({ divergence, pairs }: Comparison, { first, second }: Labels): string => {
  const pair = divergence === undefined ? undefined : pairs[divergence]
  if (divergence === undefined || pair === undefined) return "Both runs took the same steps, with the same results."
  if (pair.sign === "≠") {
    const turn = turnOf(pair.first, pair.second)
    return `First difference: ${turn}, ${pair.first.what}. ${first}: ${endOf(pair.first)}. ${second}: ${endOf(pair.second)}.`
  }
  // what both did between the same two steps
  const gap = pairs.slice(divergence).findIndex(({ sign }) => sign === "=" || sign === "≠")
  const own = pairs.slice(divergence, gap < 0 ? undefined : divergence + gap)
  const behind = gap < 0 ? undefined : pairs[divergence + gap]
  const one = own.find(({ sign }) => sign === "-")?.first ?? behind?.first
  const other = own.find(({ sign }) => sign === "+")?.second ?? behind?.second
  return `First difference: ${turnOf(one, other)}. ${first} ${didOf(one)}, ${second} ${didOf(other)}.`
}

const turnOf = (one: Step | undefined, other: Step | undefined): string => {
  const turn = one?.turn ?? other?.turn ?? 0
  return one !== undefined && other !== undefined && one.turn !== other.turn
    ? `turn ${one.turn} and turn ${other.turn}`
    : `turn ${turn}`
}

const didOf = (step: Step | undefined): string =>
  step === undefined ? "had ended" : step.key.endsWith("\nanswers") ? "answered" : `called ${step.what}`

/** How a step ended, in words. */
const endOf = ({ end, failures, text }: Step): string => {
  const said = text === "" ? "" : `: ${clip(text, 60)}`
  return `${end}${failures === 0 ? "" : ` after ${count(failures, "failure")}`}${said}`
}

/** The time of a step and its failures, in short. */
export const cellOf = (step: Step | undefined): string => {
  if (step === undefined) return ""
  const took = step.lasted === undefined ? "no end" : duration(step.lasted)
  const tries = step.failures === 0 ? "" : `, ${count(step.failures, "failure")}`
  return `${took}${tries}${usual.has(step.end) ? "" : `, ${step.end}`}`
}

const usual: ReadonlySet<string> = new Set(["result", "answered"])

/** The step of a pair, with a mark for each run around it. */
export const stepOf = (pair: Pair): string => {
  const step = pair.first ?? pair.second
  return `${"› ".repeat(step.depth)}${step.what}`
}

/** The turn of a pair in each recording: `3`, or `3/4`. */
export const turnsOf = ({ first, second }: Pair): string => {
  const turns = [first?.turn, second?.turn].filter((turn) => turn !== undefined)
  return turns[0] === turns[1] || turns.length === 1 ? String(turns[0]) : turns.join("/")
}

/** The note about an alignment that is not the best one; empty otherwise. */
export const exactness = ({ isExact }: Comparison): string =>
  isExact ? "" : "The runs are long and differ much: some equal steps may be shown as different."

/** The settings that differ, each with its title. */
export const changed = ({ settings }: Comparison) =>
  (
    [
      ["System prompts", settings.prompts],
      ["Models", settings.models],
      ["Tables, as their verdicts show", settings.tables]
    ] as const
  ).filter(([, lines]) => lines.some(({ sign }) => sign !== " "))
