/**
 * Statistics of many runs. They count what ended runs, the errors with the verdicts that healed them, the cost of recovery, the errors
 * without a row, and the tools that never heal. Statistics of recordings add up, in any order and grouping.
 */
import { type Incident, find } from "../recording/Incidents.ts"
import { countOf } from "../recording/Problem.ts"
import { isTerminal, type Recorded } from "../recording/Recorded.ts"
import type { Recording } from "../recording/Recording.ts"
import * as Totals from "../recording/Totals.ts"
import { addEnded, type Ended, endedKey, endedOf } from "./ended.ts"
import {
  addHealing,
  addUnhandled,
  type Healing,
  healingKey,
  healingOf,
  type Unhandled,
  unhandledKey,
  unhandledOf
} from "./healing.ts"
import { addMinutes, type Minute, minuteKey, minuteOf } from "./overTime.ts"

// Private types are aliases and not interfaces: TypeScript writes an alias out in the declarations of a program, and cannot name a private
// interface there.

/** How the runs ended that have no parent in their recording. */
type Runs = {
  readonly completed: number
  readonly failed: number
  readonly interrupted: number
  readonly suspended: number
  /** How many runs have no terminal event. */
  readonly unfinished: number
  /** How many runs have a parent (fixers and sub-agents), with any end. */
  readonly children: number
}

/** How many incidents had this verdict as their last one. */
type ByVerdict = {
  /** The kind of the verdict. It is `output-retry` for an answer that did not fit its schema, and `none` for a failure without a verdict. */
  readonly verdict: string
  /** Whether the rung of the verdict gave up. */
  readonly gaveUp: boolean
  /** Whether the failure was told to the model, which was then called again. */
  readonly byModel: boolean
  readonly count: number
}

/** The statistics of one error tag in one layer. */
type ErrorStats = {
  /**
   * The layer that failed: `transport`, `model`, `tool` or `effect`. It is `output` for answers that did not fit their schema, and `run` for
   * failures of a run itself.
   */
  readonly layer: string
  readonly tag: string
  /** How many attempts failed with this error. */
  readonly failures: number
  /** How many requests, model calls, tool calls and answers failed with this error, each counted once. */
  readonly incidents: number
  /** How many of these incidents had a good end after all. */
  readonly healed: number
  /** The last verdicts of the incidents that healed, the most frequent first. */
  readonly healedBy: ReadonlyArray<ByVerdict>
  /** The last verdicts of the incidents that did not heal. */
  readonly lostAfter: ReadonlyArray<ByVerdict>
}

/** The statistics of one tool. */
type ToolStats = {
  readonly tool: string
  readonly calls: number
  /** How many calls failed at least once, or ended with a failure that was told to the model. */
  readonly withFailures: number
  /** How many of these calls ended with a result, or were followed by a result of the same tool in the same run. */
  readonly healed: number
}

/** Sums over recordings, as plain data for JSON. */
export interface Stats {
  readonly recordings: number
  readonly events: number
  /** How many problems the recordings have, such as broken lines and missing beginnings. */
  readonly problems: number
  readonly runs: Runs
  /** How the runs without a parent ended over time, one entry for each minute in which one ended. */
  readonly minutes: ReadonlyArray<Minute>
  /** What ended runs that failed or were interrupted, one entry for each error, place and reason, sorted. */
  readonly ended: ReadonlyArray<Ended>
  /** What healed failures, one entry for each layer, tag and verdict, sorted. */
  readonly healing: ReadonlyArray<Healing>
  /** The errors about which no verdict was given, one entry for each error and place, sorted. */
  readonly unhandled: ReadonlyArray<Unhandled>
  readonly turns: number
  readonly toolCalls: number
  readonly verdicts: number
  /** The sum of all waits that verdicts decided on, in milliseconds. */
  readonly waitMillis: number
  readonly work: Totals.Spending
  readonly recovery: Totals.Spending
  /** How many recordings have attempts of models whose price is unknown. */
  readonly unpriced: number
  /** The errors, one entry for each layer and tag, sorted. */
  readonly errors: ReadonlyArray<ErrorStats>
  /** The tools, one entry for each name, sorted. */
  readonly tools: ReadonlyArray<ToolStats>
}

const nothing: Totals.Spending = { attempts: 0, tokens: 0, cost: 0, unknown: 0 }

/** The sums of no recording. `add` begins with it. */
export const empty: Stats = {
  recordings: 0,
  events: 0,
  problems: 0,
  runs: { completed: 0, failed: 0, interrupted: 0, suspended: 0, unfinished: 0, children: 0 },
  minutes: [],
  ended: [],
  healing: [],
  unhandled: [],
  turns: 0,
  toolCalls: 0,
  verdicts: 0,
  waitMillis: 0,
  work: nothing,
  recovery: nothing,
  unpriced: 0,
  errors: [],
  tools: []
}

/** The options of `of`. */
interface Options {
  /** The name of the recording's file, for the examples of failed runs. */
  readonly file?: string
}

/** Makes the statistics of one recording. */
export const of = ({ events, problems }: Recording, { file }: Options = {}): Stats => {
  const { recovery, toolCalls, turns, verdicts, waited, work, ...totals } = Totals.make(events)
  const { incidents, troubles } = find(events)
  const tools = events.flatMap((event): ReadonlyArray<ToolStats> => {
    const tool = event["tool"]
    return event.type === "tool-start" && typeof tool === "string"
      ? [{ tool, calls: 1, withFailures: 0, healed: 0 }]
      : []
  })
  const asked = work.attempts + recovery.attempts
  const ends = endsOf(events)
  return {
    recordings: 1,
    events: events.length,
    problems: countOf(problems),
    runs: runsOf(ends),
    minutes: merged(
      [...ends.values()].flatMap(({ at, end }) => (end === "children" ? [] : minuteOf(at, end))),
      minuteKey,
      addMinutes
    ),
    ended: merged(endedOf(events, file), endedKey, addEnded),
    healing: merged(
      incidents.flatMap((one) => healingOf(one, nanos)),
      healingKey,
      addHealing(nanos)
    ),
    unhandled: merged(incidents.flatMap(unhandledOf), unhandledKey, addUnhandled),
    turns,
    toolCalls,
    verdicts,
    waitMillis: rounded(waited, micro),
    work: { ...work, cost: rounded(work.cost, nano) },
    recovery: { ...recovery, cost: rounded(recovery.cost, nano) },
    unpriced: asked > 0 && !totals.isPriced ? 1 : 0,
    errors: merged(incidents.map(ofIncident), errorKey, addErrors),
    tools: merged(
      [
        ...tools,
        ...troubles.map(({ isHealed, tool }) => ({ tool, calls: 0, withFailures: 1, healed: isHealed ? 1 : 0 }))
      ],
      toolKey,
      addTools
    )
  }
}

/** Adds the sums of two sets of recordings. */
export const add = (a: Stats, b: Stats): Stats => ({
  recordings: a.recordings + b.recordings,
  events: a.events + b.events,
  problems: a.problems + b.problems,
  runs: {
    completed: a.runs.completed + b.runs.completed,
    failed: a.runs.failed + b.runs.failed,
    interrupted: a.runs.interrupted + b.runs.interrupted,
    suspended: a.runs.suspended + b.runs.suspended,
    unfinished: a.runs.unfinished + b.runs.unfinished,
    children: a.runs.children + b.runs.children
  },
  minutes: merged([...a.minutes, ...b.minutes], minuteKey, addMinutes),
  ended: merged([...a.ended, ...b.ended], endedKey, addEnded),
  healing: merged([...a.healing, ...b.healing], healingKey, addHealing(nanos)),
  unhandled: merged([...a.unhandled, ...b.unhandled], unhandledKey, addUnhandled),
  turns: a.turns + b.turns,
  toolCalls: a.toolCalls + b.toolCalls,
  verdicts: a.verdicts + b.verdicts,
  waitMillis: rounded(a.waitMillis + b.waitMillis, micro),
  work: addSpending(a.work, b.work),
  recovery: addSpending(a.recovery, b.recovery),
  unpriced: a.unpriced + b.unpriced,
  errors: merged([...a.errors, ...b.errors], errorKey, addErrors),
  tools: merged([...a.tools, ...b.tools], toolKey, addTools)
})

/** Adds the sums of any number of recordings. */
export const sum = (all: Iterable<Stats>): Stats => {
  let total = empty
  for (const one of all) total = add(total, one)
  return total
}

/**
 * Rounds to whole units: waits to microseconds, and money to billionths. Sums of fractions would depend on their order in the last digits,
 * and sums of whole numbers do not.
 */
const rounded = (value: number, unit: number): number => Math.round(value * unit) / unit

const micro = 1e3
const nano = 1e9

const nanos = (cost: number): number => rounded(cost, nano)

const addSpending = (a: Totals.Spending, b: Totals.Spending): Totals.Spending => ({
  attempts: a.attempts + b.attempts,
  tokens: a.tokens + b.tokens,
  cost: nanos(a.cost + b.cost),
  unknown: a.unknown + b.unknown
})

const ofIncident = ({ byModel, failures, gaveUp, isHealed, layer, tag, verdict }: Incident): ErrorStats => ({
  layer,
  tag,
  failures,
  incidents: 1,
  healed: isHealed ? 1 : 0,
  healedBy: isHealed ? [{ verdict, gaveUp, byModel, count: 1 }] : [],
  lostAfter: isHealed ? [] : [{ verdict, gaveUp, byModel, count: 1 }]
})

const errorKey = ({ layer, tag }: ErrorStats): string => JSON.stringify([layer, tag])

const toolKey = ({ tool }: ToolStats): string => tool

const addErrors = (a: ErrorStats, b: ErrorStats): ErrorStats => ({
  layer: a.layer,
  tag: a.tag,
  failures: a.failures + b.failures,
  incidents: a.incidents + b.incidents,
  healed: a.healed + b.healed,
  healedBy: addVerdicts(a.healedBy, b.healedBy),
  lostAfter: addVerdicts(a.lostAfter, b.lostAfter)
})

const addTools = (a: ToolStats, b: ToolStats): ToolStats => ({
  tool: a.tool,
  calls: a.calls + b.calls,
  withFailures: a.withFailures + b.withFailures,
  healed: a.healed + b.healed
})

const addVerdicts = (a: ReadonlyArray<ByVerdict>, b: ReadonlyArray<ByVerdict>): ReadonlyArray<ByVerdict> =>
  merged(
    [...a, ...b],
    ({ byModel, gaveUp, verdict }) => JSON.stringify([verdict, gaveUp, byModel]),
    (x, y) => ({ ...x, count: x.count + y.count })
  ).toSorted((x, y) => y.count - x.count)

/** Adds the entries with the same key, and sorts the sums by key. */
const merged = <A>(all: ReadonlyArray<A>, key: (one: A) => string, add: (a: A, b: A) => A): ReadonlyArray<A> => {
  const found = new Map<string, A>()
  for (const one of all) {
    const previous = found.get(key(one))
    found.set(key(one), previous === undefined ? one : add(previous, one))
  }
  // Mutant `true` for `a > b` survives: the keys of a map differ
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, one]) => one)
}

const endings = new Map<string, keyof Runs>([
  ["run-completed", "completed"],
  ["run-failed", "failed"],
  ["run-interrupted", "interrupted"],
  ["run-suspended", "suspended"]
])

/** How each run ended, and the time of its last event. For a run that was resumed, the end of its last part counts. */
const endsOf = (events: ReadonlyArray<Recorded>) => {
  const ends = new Map<string, { end: keyof Runs; at: number }>()
  for (const event of events) {
    const { at, runId } = event
    if (event.parent !== undefined) ends.set(runId, { end: "children", at })
    else if (isTerminal(event)) ends.set(runId, { end: endings.get(event.type) ?? "unfinished", at })
    else {
      const found = ends.get(runId)
      ends.set(runId, { end: found === undefined || event.type === "run-start" ? "unfinished" : found.end, at })
    }
  }
  return ends
}

const runsOf = (ends: ReturnType<typeof endsOf>): Runs => {
  const counts = { completed: 0, failed: 0, interrupted: 0, suspended: 0, unfinished: 0, children: 0 }
  for (const { end } of ends.values()) counts[end]++
  return counts
}
