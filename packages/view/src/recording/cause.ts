/**
 * Finds the deepest cause of a failed run: the model call, the tool call or the rejected answer, followed into the runs that a call has
 * started.
 *
 * @internal
 */
import { asText, at, fieldOf, itemsAt, numberAt, textAt } from "./Fields.ts"
import { messageOf, tagOf } from "./ErrorWords.ts"
import type { Recorded } from "./Recorded.ts"
import type { Run } from "./runs.ts"
import { clip } from "../text/Words.ts"

/** A failure on the way from a failed run to its cause. */
export interface Step {
  readonly run: Run
  /** The index of the event that has the error. */
  readonly index: number
  readonly event: Recorded
  readonly error: unknown
}

/** The failures from the outermost run to the deepest cause. The last step is the cause. */
export const stepsTo = (events: ReadonlyArray<Recorded>, run: Run): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  const seen = new Set<Run>()
  let next: Run | undefined = run
  // a broken file may name runs as parents of each other
  while (next !== undefined && !seen.has(next)) {
    seen.add(next)
    const step = stepOf(events, next)
    if (step === undefined) break
    steps.push(step)
    next = childOf(events, step)
  }
  return steps
}

/** The failure that ended a run: an earlier event of the run with the same error, else the end of the run. */
const stepOf = (events: ReadonlyArray<Recorded>, run: Run): Step | undefined => {
  if (run.end === undefined) return undefined
  const end = events[run.end]
  if (end === undefined) return undefined
  const error = fieldOf(end, "error")
  const causes = causesOf(error)
  if (isRepeated(error)) {
    // the limit of equal failures is reached by a call that the model has read about
    const index = run.indices.findLast((other) => events[other]?.type === "tool-failed")
    const event = index === undefined ? undefined : events[index]
    if (index !== undefined && event !== undefined) return { run, index, event, error }
  }
  for (const index of run.indices.toReversed()) {
    const event = events[index]
    // Mutant `index >= run.end` survives: an event that ends a run is of no kind that `ends` knows
    if (event === undefined || index > run.end) continue
    if (ends(event, error, causes)) return { run, index, event, error: fieldOf(event, "error") ?? error }
  }
  return { run, index: run.end, event: end, error }
}

/** Whether a run has reached its limit of equal failures in a row. */
export const isRepeated = (error: unknown): boolean =>
  tagOf(error) === "BudgetExceededError" && textAt(error, "reason") === "repeatedFailure"

/** Whether an event has the failure that ended its run. */
const ends = (event: Recorded, error: unknown, causes: ReadonlySet<string>): boolean => {
  switch (event.type) {
    case "model-failed":
    case "fix-failed":
      return causes.has(keyOf(fieldOf(event, "error")))
    case "tool-failed":
      return (
        causes.has(keyOf(fieldOf(event, "error"))) ||
        (tagOf(error) === "ToolExecutionError" && textAt(error, "callId") === textAt(event, "callId"))
      )
    case "budget-exceeded":
      return tagOf(error) === "BudgetExceededError" && textAt(error, "reason") === textAt(event, "reason")
    case "output-rejected":
      return tagOf(error) === "InvalidOutputError"
    case "guardrail":
      return tagOf(error) === "GuardrailError" && textAt(event, "verdict") === "block"
    default:
      return false
  }
}

/** The failed run that a failure comes from: one that the failed call has started, or a part of a composition. */
const childOf = (events: ReadonlyArray<Recorded>, { error, event, index, run }: Step): Run | undefined => {
  // Mutant `true` survives: no other failure names a call
  const callId = event.type === "tool-failed" || event.type === "fix-failed" ? textAt(event, "callId") : undefined
  if (callId === undefined && index !== run.end) return undefined
  const causes = causesOf(error)
  return run.children.findLast((child) => {
    if (child.parent?.callId !== callId || child.end === undefined || child.end > index) return false
    const end = events[child.end]
    return end?.type === "run-failed" && [...causesOf(fieldOf(end, "error"))].some((key) => causes.has(key))
  })
}

/** The errors that an error carries, itself first, as keys of tag, line end and message. */
export const causesOf = (error: unknown): ReadonlySet<string> => {
  const keys = new Set<string>()
  const left = [error]
  // errors nest a few levels; a wide or deep one of a broken file ends here
  while (left.length > 0 && keys.size < 32) {
    const one = left.shift()
    if (one === undefined || one === null || keys.has(keyOf(one))) continue
    keys.add(keyOf(one))
    left.push(fieldOf(one, "cause"), fieldOf(one, "originalError"), ...itemsAt(one, "attempts").slice(-8).toReversed())
  }
  return keys
}

const keyOf = (error: unknown): string => `${tagOf(error)}\n${messageOf(error)}`

/** The names of the places on the way to the cause, outermost first: agents, turns, calls, and the attempt. */
export const pathOf = (events: ReadonlyArray<Recorded>, steps: ReadonlyArray<Step>): ReadonlyArray<string> =>
  steps.flatMap((step, depth) => {
    const { event, run } = step
    const attempt = depth === steps.length - 1 ? attemptOf(events, step) : []
    return [run.agent, ...(event.turn > 0 ? [`turn ${event.turn}`] : []), ...callOf(events, step), ...attempt]
  })

const callOf = (events: ReadonlyArray<Recorded>, { event, run }: Step): ReadonlyArray<string> => {
  if (event.type === "model-failed") return [`model ${textAt(event, "model") ?? "?"}`]
  if (event.type === "output-rejected") return ["answer"]
  if (event.type === "guardrail") return [`guardrail ${textAt(event, "guard") ?? "?"}`]
  const tool = textAt(event, "tool")
  if (tool === undefined) return []
  return [
    callLine(tool, at(startOf(events, run, event), "arguments")),
    ...(event.type === "fix-failed" ? ["fixer"] : [])
  ]
}

/** A call in short: `refund {"id":"O-50","cents":99999}`. */
export const callLine = (tool: string, args: unknown): string =>
  args === undefined ? tool : clip(`${tool} ${typeof args === "string" ? args : asText(args)}`, 80)

/** The event that began the call of another event. */
export const startOf = (events: ReadonlyArray<Recorded>, run: Run, event: Recorded): Recorded | undefined => {
  const callId = textAt(event, "callId")
  const index = run.indices.findLast((index) => {
    const one = events[index]
    return one?.type === "tool-start" && one.turn <= event.turn && textAt(one, "callId") === callId
  })
  return index === undefined ? undefined : events[index]
}

/** `attempt 2 of 3`; the last attempt is the highest number that the events name. */
const attemptOf = (events: ReadonlyArray<Recorded>, { event, run }: Step): ReadonlyArray<string> => {
  const attempt = numberAt(event, "attempt")
  if (attempt === undefined) return []
  const callId = textAt(event, "callId")
  let last = attempt
  for (const index of run.indices) {
    const one = events[index]
    const isOfCall = one?.type === event.type && one.turn === event.turn && textAt(one, "callId") === callId
    if (isOfCall) last = Math.max(last, numberAt(one, "attempt") ?? 0)
  }
  return [`attempt ${attempt} of ${last}`]
}
