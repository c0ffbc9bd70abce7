/**
 * Statistics of many runs. They count errors, the verdicts that healed them, the cost of recovery, and the tools that never heal.
 * Statistics of recordings add up, in any order and grouping.
 */
import { type Incident, find } from "./incidents.ts"
import { countOf } from "../recording/Problem.ts"
import { isTerminal, type Recorded } from "../recording/Recorded.ts"
import type { Recording } from "../recording/Recording.ts"
import * as Totals from "../recording/Totals.ts"

// Private shapes are aliases: the declarations of a program write an alias out, and cannot name a private interface.

/** The ends of the runs without a parent in their recording. */
type Runs = {
  readonly completed: number
  readonly failed: number
  readonly interrupted: number
  readonly suspended: number
  /** Runs whose end is missing. */
  readonly unfinished: number
  /** Fixers and sub-agents, however they have ended. */
  readonly children: number
}

/** A count by the last verdict. */
type ByVerdict = {
  /** The kind of the verdict; `output-retry` for an answer that did not fit its schema. */
  readonly verdict: string
  /** Whether the rung of that verdict gave up. */
  readonly gaveUp: boolean
  /** Whether the model was told, and called again. */
  readonly byModel: boolean
  readonly count: number
}

/** One kind of failure in one layer. */
type ErrorStats = {
  /** `transport`, `model`, `tool` or `effect`; `output` for answers that did not fit their schema. */
  readonly layer: string
  readonly tag: string
  /** Attempts that failed with this error. */
  readonly failures: number
  /** Requests, model calls, tool calls and answers that failed with this error, once or several times. */
  readonly incidents: number
  /** Incidents that came to a good end all the same. */
  readonly healed: number
  /** The last verdicts before the good ends, the most frequent first. */
  readonly healedBy: ReadonlyArray<ByVerdict>
  /** The last verdicts of incidents without a good end. */
  readonly lostAfter: ReadonlyArray<ByVerdict>
}

/** One tool. */
type ToolStats = {
  readonly tool: string
  readonly calls: number
  /** Calls that failed at least once, or whose failure was told to the model. */
  readonly withFailures: number
  /** Of these, calls that ended with a result, and calls with a later result of the same tool in the same run. */
  readonly healed: number
}

/** Sums over recordings, as plain data for JSON. */
export interface Stats {
  readonly recordings: number
  readonly events: number
  /** Broken lines, missing beginnings and the like. */
  readonly problems: number
  readonly runs: Runs
  readonly turns: number
  readonly toolCalls: number
  readonly verdicts: number
  /** Milliseconds of all waits that were decided on. */
  readonly waitMillis: number
  readonly work: Totals.Spending
  readonly recovery: Totals.Spending
  /** Recordings with attempts of models whose price is unknown. */
  readonly unpriced: number
  /** By layer and tag. */
  readonly errors: ReadonlyArray<ErrorStats>
  /** By name. */
  readonly tools: ReadonlyArray<ToolStats>
}

const nothing: Totals.Spending = { attempts: 0, tokens: 0, cost: 0 }

/** The sums of no recording. `add` begins with it. */
export const empty: Stats = {
  recordings: 0,
  events: 0,
  problems: 0,
  runs: { completed: 0, failed: 0, interrupted: 0, suspended: 0, unfinished: 0, children: 0 },
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

/** Counts one recording. */
export const of = ({ events, problems }: Recording): Stats => {
  const { recovery, toolCalls, turns, verdicts, waited, work, ...totals } = Totals.make(events)
  const { incidents, troubles } = find(events)
  const tools = events.flatMap((event): ReadonlyArray<ToolStats> => {
    const tool = event["tool"]
    return event.type === "tool-start" && typeof tool === "string"
      ? [{ tool, calls: 1, withFailures: 0, healed: 0 }]
      : []
  })
  const asked = work.attempts + recovery.attempts
  return {
    recordings: 1,
    events: events.length,
    problems: countOf(problems),
    runs: runsOf(events),
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
 * Sums of fractions depend on their order by their last digits. So waits count whole microseconds, money whole billionths: sums of whole
 * numbers do not.
 */
const rounded = (value: number, unit: number): number => Math.round(value * unit) / unit

const micro = 1e3
const nano = 1e9

const addSpending = (a: Totals.Spending, b: Totals.Spending): Totals.Spending => ({
  attempts: a.attempts + b.attempts,
  tokens: a.tokens + b.tokens,
  cost: rounded(a.cost + b.cost, nano)
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

/** One sum for each key, sorted by key. */
const merged = <A>(all: ReadonlyArray<A>, key: (one: A) => string, add: (a: A, b: A) => A): ReadonlyArray<A> => {
  const found = new Map<string, A>()
  for (const one of all) {
    const previous = found.get(key(one))
    found.set(key(one), previous === undefined ? one : add(previous, one))
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, one]) => one)
}

const endings = new Map<string, keyof Runs>([
  ["run-completed", "completed"],
  ["run-failed", "failed"],
  ["run-interrupted", "interrupted"],
  ["run-suspended", "suspended"]
])

/** A run that was resumed has ended as its last part has. */
const runsOf = (events: ReadonlyArray<Recorded>): Runs => {
  const ends = new Map<string, keyof Runs>()
  for (const event of events) {
    if (event.parent !== undefined) ends.set(event.runId, "children")
    else if (isTerminal(event)) ends.set(event.runId, endings.get(event.type) ?? "unfinished")
    else if (!ends.has(event.runId) || event.type === "run-start") ends.set(event.runId, "unfinished")
  }
  const counts = { completed: 0, failed: 0, interrupted: 0, suspended: 0, unfinished: 0, children: 0 }
  for (const end of ends.values()) counts[end]++
  return counts
}
