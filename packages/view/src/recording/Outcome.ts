/**
 * How a run ended, for a header: its answer, or the failure that ended it, where it happened, why no row stopped it, and the row that would
 * have gone on. All of it is read from events.
 */
import { codeOf, errorPage, type Row, rowFor } from "./Advice.ts"
import { callLine, isRepeated, pathOf, startOf, type Step, stepsTo } from "./cause.ts"
import { messageOf, tagOf } from "./ErrorWords.ts"
import { asText, fieldOf, flagAt, textAt } from "./Fields.ts"
import * as Incidents from "./Incidents.ts"
import type { Recorded } from "./Recorded.ts"
import type { Recording } from "./Recording.ts"
import { isOutermost, type Run, runsOf } from "./runs.ts"
import * as Totals from "./Totals.ts"
import { clip, count, duration, money } from "../text/Words.ts"
import { explain, type Why } from "./why.ts"

/** How a run ended. A run without a terminal event is `unfinished`. */
export type Kind = "completed" | "failed" | "suspended" | "interrupted" | "unfinished"

/** The outcome of one outermost run, with all runs that it has started. */
export interface Outcome {
  readonly kind: Kind
  readonly agent: string
  readonly runId: string
  /** The input as text; absent if the beginning of the run is missing. */
  readonly input?: string
  /** The output of a completed run as text. */
  readonly answer?: string
  /** The first and the last instant of the run, in milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  /** Why a run failed, or where it was interrupted. */
  readonly fatal?: Fatal
  readonly failures: Failures
  readonly spent: Spent
}

/** How many requests, model calls, tool calls and answers failed, each counted once: see `Incidents`. */
interface Failures {
  /** Those with a good end. */
  readonly healed: number
  /** Those that the model has read about, without a good end. */
  readonly tell: number
  /** All others. */
  readonly lost: number
}

/** What the model calls of a run have used. `undefined` means that it is not known, which is not 0. */
interface Spent {
  readonly tokens: number | undefined
  /** In US dollars. */
  readonly cost: number | undefined
}

/** The failure that ended a run, at its deepest cause. */
export interface Fatal {
  /** The index of its event in the recording. */
  readonly index: number
  readonly tag: string
  readonly message: string
  /** The code of an error of Kintsugi; absent for other errors. */
  readonly code?: string
  /** The page about the error, by its path on the site of the documentation; absent for errors of other code. */
  readonly page?: string
  /** Where it happened, outermost first: agent, turn, call, attempt. A call that started a run is followed by the places in that run. */
  readonly path: ReadonlyArray<string>
  /** The agent of the run that failed first, and the tool if a call failed. */
  readonly agent: string
  readonly tool?: string
  readonly why: Why
  /** Why no row has stopped it, as a clause: `refund has no row for PaymentDeclined`. */
  readonly reason: string
  /** The last verdict about the failure, if there was one: see `verdictPage`. */
  readonly verdict?: string
  /** A row that would have gone on. */
  readonly row?: Row
  /** Whether an unsafe tool was at work, so that its effect may have happened. */
  readonly mayHaveHappened: boolean
  /** How many of the lost failures are this one: it passes the calls around it on its way out. */
  readonly passed: number
}

/** The outcome of the first outermost run that failed, else of the first one; `undefined` without events. */
export const outcomeOf = (recording: Pick<Recording, "events">): Outcome | undefined => {
  const { events } = recording
  const runs = answeringIn(events)
  const run = runs.find((one) => kindOf(events, one) === "failed") ?? runs[0]
  return run === undefined ? undefined : outcome(events, run)
}

/** The outcome of each outermost run, in the order in which they began. */
export const outcomesOf = ({ events }: Pick<Recording, "events">): ReadonlyArray<Outcome> =>
  answeringIn(events).map((run) => outcome(events, run))

/** The outermost runs, or the first run of a recording that has none. */
const answeringIn = (events: ReadonlyArray<Recorded>): ReadonlyArray<Run> => {
  const runs = runsOf(events)
  const outermost = runs.filter(isOutermost)
  return outermost.length > 0 ? outermost : runs.slice(0, 1)
}

const kinds: Readonly<Record<string, Kind>> = {
  "run-completed": "completed",
  "run-failed": "failed",
  "run-interrupted": "interrupted",
  "run-suspended": "suspended"
}

const kindOf = (events: ReadonlyArray<Recorded>, { end }: Run): Kind =>
  // Mutant `"Stryker was here!"` survives: no event has this type
  kinds[events[end ?? -1]?.type ?? ""] ?? "unfinished"

const outcome = (events: ReadonlyArray<Recorded>, run: Run): Outcome => {
  const own = ownEvents(events, run)
  const begun = own.find(({ runId, type }) => runId === run.runId && type === "run-start")
  const end = run.end === undefined ? undefined : events[run.end]
  const kind = kindOf(events, run)
  const fatal = kind === "failed" ? fatalOf(events, run) : kind === "interrupted" ? stoppedOf(events, run) : undefined
  return {
    kind,
    agent: run.agent,
    runId: run.runId,
    ...(begun === undefined ? {} : { input: asText(begun["input"]) }),
    ...(kind === "completed" ? { answer: asText(end?.["output"]) } : {}),
    from: own[0]?.at ?? 0,
    to: own.reduce((latest, { at }) => Math.max(latest, at), own[0]?.at ?? 0),
    ...(fatal === undefined ? {} : { fatal }),
    failures: failuresOf(own),
    spent: spentOf(own)
  }
}

/** The events of a run and of all runs that it has started, in order. */
export const eventsOf = ({ events }: Pick<Recording, "events">, runId: string): ReadonlyArray<Recorded> => {
  const run = runsOf(events).find((one) => one.runId === runId)
  return run === undefined ? [] : ownEvents(events, run)
}

const ownEvents = (events: ReadonlyArray<Recorded>, run: Run): ReadonlyArray<Recorded> => {
  const ids = new Set<string>()
  const indices: Array<number> = []
  const left = [run]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (ids.has(one.runId)) continue
    ids.add(one.runId)
    // one by one, because a run may have more events and children than a function call takes arguments
    for (const index of one.indices) indices.push(index)
    for (const child of one.children) left.push(child)
  }
  return indices.toSorted((one, other) => one - other).flatMap((index) => events[index] ?? [])
}

const failuresOf = (events: ReadonlyArray<Recorded>): Failures => {
  // what the transport has lost is a failure of the model call too
  const incidents = Incidents.find(events).incidents.filter(({ isHealed, layer }) => isHealed || layer !== "transport")
  const healed = incidents.filter(({ isHealed }) => isHealed).length
  const tell = incidents.filter(({ isHealed, wasRead }) => wasRead && !isHealed).length
  return { healed, tell, lost: incidents.length - healed - tell }
}

const spentOf = (events: ReadonlyArray<Recorded>): Spent => {
  const { isPriced, recovery, work } = Totals.make(events)
  const [attempts, unknown] = [work.attempts + recovery.attempts, work.unknown + recovery.unknown]
  if (attempts === 0) return { tokens: 0, cost: 0 }
  return {
    tokens: unknown === attempts ? undefined : work.tokens + recovery.tokens,
    cost: isPriced ? work.cost + recovery.cost : undefined
  }
}

const fatalOf = (events: ReadonlyArray<Recorded>, run: Run): Fatal | undefined => {
  const steps = stepsTo(events, run)
  const cause = steps.at(-1)
  if (cause === undefined) return undefined
  const tag = tagOf(cause.error)
  const [code, page] = [codeOf(tag), errorPage(tag)]
  const isDefect = flagAt(cause.run.end === undefined ? undefined : events[cause.run.end], "isDefect")
  const explained = explain(events, cause, isDefect)
  const layer = cause.event.type === "model-failed" ? "model" : cause.event.type === "tool-failed" ? "tool" : undefined
  const sideEffects = textAt(startOf(events, cause.run, cause.event), "sideEffects")
  const hasRetried = explained.why === "gave-up"
  const mayGoOn = layer !== undefined && (explained.why === "no-row" || hasRetried)
  const row = mayGoOn ? rowFor({ layer, error: cause.error, sideEffects, hasRetried }) : undefined
  const tool = steps.flatMap(({ event }) => textAt(event, "tool") ?? []).at(-1)
  return {
    index: cause.index,
    tag,
    message: messageOf(cause.error),
    ...(code === undefined ? {} : { code }),
    ...(page === undefined ? {} : { page }),
    path: pathOf(events, steps),
    agent: cause.run.agent,
    ...(tool === undefined ? {} : { tool }),
    ...explained,
    ...(row === undefined ? {} : { row }),
    mayHaveHappened: steps.some((step) => mayHaveActed(events, step)),
    passed: isRepeated(cause.error) ? 0 : steps.filter(({ event, error }) => fieldOf(event, "error") === error).length
  }
}

/** Errors of calls whose tool has not run, or had no effect. */
const idle: ReadonlySet<string> = new Set([
  "InvalidArgs",
  "DeserializationError",
  "UnknownToolError",
  "ToolDeniedError",
  "ApprovalExpiredError"
])

const mayHaveActed = (events: ReadonlyArray<Recorded>, { error, event, run }: Step): boolean =>
  event.type === "tool-failed" &&
  textAt(startOf(events, run, event), "sideEffects") === "unsafe" &&
  !idle.has(tagOf(error)) &&
  fieldOf(error, "tookEffect") !== false

/** Where an interrupted run was. Events do not say who has stopped it: a run without a parent is stopped by its caller. */
const stoppedOf = (events: ReadonlyArray<Recorded>, run: Run): Fatal => {
  const index = run.end ?? 0
  const turn = events[index]?.turn ?? 0
  const calls = unfinishedCalls(events, run)
  const lines = calls.map((event) => callLine(textAt(event, "tool") ?? "?", event["arguments"]))
  const tool = textAt(calls[0], "tool")
  return {
    index,
    tag: "Interrupted",
    message: lines.length === 0 ? "" : `${lines.join(", ")} had not ended`,
    path: [run.agent, ...(turn > 0 ? [`turn ${turn}`] : []), ...lines.slice(0, 1)],
    agent: run.agent,
    ...(tool === undefined ? {} : { tool }),
    why: "interrupted",
    reason: "the caller of the run has stopped it",
    mayHaveHappened: calls.some((event) => textAt(event, "sideEffects") === "unsafe"),
    passed: 0
  }
}

/** The events of the calls that have begun and not ended, within one run. */
const unfinishedCalls = (events: ReadonlyArray<Recorded>, run: Run): ReadonlyArray<Recorded> => {
  const begun = new Map<string, Recorded>()
  for (const index of run.indices) {
    const event = events[index]
    const callId = textAt(event, "callId")
    if (event === undefined || callId === undefined) continue
    if (event.type === "tool-start") begun.set(callId, event)
    else if (event.type === "tool-end" || event.type === "tool-denied" || event.type === "tool-skipped")
      begun.delete(callId)
  }
  return [...begun.values()]
}

/** The sign and the word of each kind of outcome. */
export const signs: Readonly<Record<Kind, { readonly sign: string; readonly word: string }>> = {
  completed: { sign: "✓", word: "Completed" },
  failed: { sign: "✕", word: "Failed" },
  suspended: { sign: "△", word: "Waiting for approval" },
  interrupted: { sign: "✕", word: "Interrupted" },
  unfinished: { sign: "…", word: "No end" }
}

/** The title of a page or a tab: `✕ PaymentDeclined · refund-desk`. */
export const titleOf = ({ agent, fatal, kind }: Outcome): string =>
  clip(`${signs[kind].sign} ${fatal?.tag ?? signs[kind].word} · ${agent}`, 100)

/** The outcome in one sentence: what happened, where, and why. */
export const sentenceOf = (outcome: Outcome): string => {
  const { agent, answer, fatal, from, kind, to } = outcome
  const { sign, word } = signs[kind]
  const begin = `${sign} ${word}: ${agent}`
  if (fatal !== undefined) {
    const said = clip(fatal.message === "" ? fatal.tag : `${fatal.tag}: ${fatal.message}`, 200)
    const happened = fatal.mayHaveHappened ? " Its effect may have happened." : ""
    return `${sign} ${word}: ${said}. Where: ${fatal.path.join(" › ")}. Why: ${fatal.reason}.${happened}`
  }
  const sums = [duration(to - from), failureWords(outcome), spentWords(outcome)].filter((part) => part !== "")
  const said = answer === undefined ? "" : ` answered “${clip(answer, 120)}”`
  return `${begin}${said} (${sums.join("; ")}).`
}

/** The failures of a run in words: `5 failures, all healed`; empty if nothing failed. */
export const failureWords = ({ failures: { healed, lost, tell } }: Outcome): string => {
  const all = healed + tell + lost
  if (all === 0) return ""
  if (healed === all) return `${count(all, "failure")}, ${all === 1 ? "healed" : "all healed"}`
  const parts = [`${healed} healed`, ...(tell === 0 ? [] : [`${tell} told to the model`])]
  return `${count(all, "failure")}: ${[...parts, ...(lost === 0 ? [] : [`${lost} lost`])].join(", ")}`
}

/** What a run has spent in words: money if it is known, else tokens. */
export const spentWords = ({ spent: { cost, tokens } }: Outcome): string =>
  cost !== undefined
    ? money(cost)
    : tokens === undefined
      ? "spending unknown"
      : `${count(tokens, "token")}, cost unknown`
