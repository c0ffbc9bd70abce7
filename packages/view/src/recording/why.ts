/**
 * Says why no row has stopped a failure, from the events after it.
 *
 * @internal
 */
import { fieldOf, flagAt, numberAt, textAt } from "./Fields.ts"
import { messageOf, tagOf } from "./ErrorWords.ts"
import type { Recorded } from "./Recorded.ts"
import { isRepeated, type Step } from "./cause.ts"
import { clip, count, duration, money } from "../text/Words.ts"

/**
 * Why a failure has ended its run:
 *
 * - `no-row`: no verdict followed the failure
 * - `gave-up`: the last rung of its row gave up
 * - `decided`: its row, a guardrail or a handler has ended the run
 * - `limit`: the run has reached a limit of its budget
 * - `defect`: an unexpected error, which no table handles
 * - `interrupted`: the run was stopped from outside
 */
export type Why = "no-row" | "gave-up" | "decided" | "limit" | "defect" | "interrupted"

/** Why a failure has ended its run, for counts and in one clause. */
export interface Explained {
  readonly why: Why
  readonly reason: string
  /** The last verdict about the failure, if there was one. */
  readonly verdict?: string
}

/** Explains a failure by the verdicts that followed it. `isDefect` is the field of the event that ended the run. */
export const explain = (events: ReadonlyArray<Recorded>, step: Step, isDefect: boolean): Explained => {
  const { error, event, run } = step
  const tag = tagOf(error)
  switch (event.type) {
    case "budget-exceeded":
      return { why: "limit", reason: `${run.agent} reached its limit ${limitOf(event)}` }
    case "guardrail":
      return { why: "decided", reason: `the guardrail ${textAt(event, "guard") ?? "?"} has blocked it` }
    case "output-rejected":
      return { why: "gave-up", reason: `${count(rejections(events, step), "answer")} did not fit the schema` }
  }
  if (tag === "BudgetExceededError") {
    return { why: "limit", reason: `it reached the limit ${limitOf(error)}${repeated(step)}` }
  }
  if (tag === "ToolExecutionError" && event.type === "run-failed") return { why: "decided", reason: "it was raised" }
  const owner = event.type === "model-failed" ? `the model calls of ${run.agent}` : (textAt(event, "tool") ?? run.agent)
  const last = verdictsAfter(events, step).at(-1)
  if (last === undefined)
    return isDefect
      ? { why: "defect", reason: "it is a defect, which no row handles" }
      : { why: "no-row", reason: `${owner} ${event.type === "model-failed" ? "have" : "has"} no row for ${tag}` }
  const verdict = textAt(last, "verdict") ?? "?"
  if (!flagAt(last, "gaveUp"))
    return { why: "decided", reason: `the row of ${owner} for ${tag} ends the run (${verdict})`, verdict }
  return { why: "gave-up", reason: surrender(verdict, last), verdict }
}

/** The failure that has come again and again, as the end of a clause; empty for any other limit. */
const repeated = ({ error, event }: Step): string => {
  if (!isRepeated(error) || event.type !== "tool-failed") return ""
  const failure = fieldOf(event, "error")
  return clip(`: ${textAt(event, "tool")} failed with ${tagOf(failure)}: ${messageOf(failure)}`, 200)
}

/** The verdicts about a failure, on all its attempts before and about this one after it. Those of the transport have no say here. */
const verdictsAfter = (events: ReadonlyArray<Recorded>, { event, index, run }: Step): ReadonlyArray<Recorded> => {
  const callId = textAt(event, "callId")
  return run.indices.flatMap((other) => {
    const one = events[other]
    const isAbout =
      other > index && one?.type === "verdict" && one["layer"] !== "transport" && textAt(one, "callId") === callId
    return isAbout ? [one] : []
  })
}

const surrender = (verdict: string, last: Recorded): string => {
  switch (textAt(last, "why")) {
    case "no-approver":
      return "no person could be asked"
    case "no-continuation":
      return "no model could go on from its text"
  }
  const tries = Math.max(0, (numberAt(last, "attempt") ?? 1) - 1)
  switch (verdict) {
    case "retry":
      return tries === 0 ? "its row does not retry it" : `retried ${times(tries)}, then gave up`
    case "fix":
      return "its fixer did not help"
    case "fallback":
      return "no other model was left"
    case "compact":
      return "the conversation could not be shortened enough"
    default:
      return `its row gave up (${verdict})`
  }
}

const times = (many: number): string => (many === 1 ? "once" : many === 2 ? "twice" : `${many} times`)

const rejections = (events: ReadonlyArray<Recorded>, { run }: Step): number =>
  run.indices.filter((index) => events[index]?.type === "output-rejected").length

/** A limit with its amount: `maxTurns (12 of 12)`. */
const limitOf = (source: unknown): string => {
  const reason = textAt(source, "reason") ?? "?"
  const [spent, most] = [numberAt(source, "spent"), numberAt(source, "limit")]
  if (spent === undefined || most === undefined) return reason
  const shown = reason === "maxCost" ? money : reason === "maxDuration" ? duration : String
  return `${reason} (${shown(spent)} of ${shown(most)})`
}
