/** Computes the worst case of a table: its rungs, and the sequence of failures that keeps it busy for longest. */
import * as Duration from "effect/Duration"
import type { Explanation } from "./Explanation.ts"
import { samplesFor, steps } from "./explainSchedule.ts"
import type { Ask, Compact, Fix, Node, Retry, Rows, When } from "./Node.ts"
import { isOptions, Names } from "./names.ts"
import { maxAttemptsPerCall, maxCompactions, maxRepairs } from "./bounds.ts"
import type { Cost } from "./Cost.ts"

type Row = Explanation["rows"][number]
type Rung = Row["rungs"][number]
type Worst = Explanation["worst"]

/** The facts that `explain` cannot read from a policy. */
export interface Options {
  /**
   * Failures that the policy may meet. `explain` tries schedules out with the failures of their row. Without such failures, it uses the
   * longest advice that an error of this library gives for the tag of the row.
   */
  readonly errors?: ReadonlyArray<unknown>
  /** The longest time of one attempt, such as a timeout. Without it, `time` counts waits only. */
  readonly attempt?: Duration.Input
  /** The worst case of one attempt, if an inner layer has a policy of its own. */
  readonly inner?: { readonly worst: Pick<Worst, "requests" | "modelCalls" | "time"> }
  /** Whether the guarded work has unsafe side effects. Only a row with `acknowledge` then repeats it. */
  readonly isUnsafe?: boolean
  /** Whether `verify` finds out the outcome of an interrupted run. A run that took no effect may then be repeated. */
  readonly isLookedUp?: boolean
}

/** Computes the worst case of a table. `costOf` gives the worst cost of one run of an agent that is a fixer or a compaction. */
export const explainRows = (rows: Rows, options: Options, costOf: (agent: unknown) => Cost): Explanation => {
  const explained: ReadonlyArray<Row> = [...rows].map(([key, node]) => ({
    key,
    rungs: climb(node, { samples: samplesFor(key, options.errors), ...admittedTo(key, options), costOf }).rungs
  }))
  const all = explained.flatMap(({ rungs }) => rungs)
  return { rows: explained, worst: worstOf(all, options) }
}

/** The rows whose failures allow an unsafe tool to run again: it has not run, or `verify` says that it took no effect. */
const repeatable: ReadonlySet<string> = new Set(["InvalidArgs", "DeserializationError", "ToolTimeoutError"])

/** The rows that handle a timeout if the table has no row for `ToolTimeoutError`. */
const beyondTimeouts: ReadonlySet<string> = new Set(["ExecutionError", "orElse"])

const admittedTo = (
  key: string,
  { isLookedUp = false, isUnsafe = false }: Options
): Pick<Reach, "repeats" | "repairs"> => {
  const repeats = !isUnsafe || repeatable.has(key) || (isLookedUp && beyondTimeouts.has(key))
  // `orElse` may also repair invalid arguments: the tool has not run then
  return { repeats, repairs: repeats || key === "orElse" }
}

/** The failures of a row, and what the row may do about them without `acknowledge`. */
interface Reach {
  readonly samples: ReadonlyArray<unknown>
  readonly repeats: boolean
  readonly repairs: boolean
  readonly costOf: (agent: unknown) => Cost
}

/** The rungs of a verdict. `ends` is true if the verdict never gives up, so that later rungs are unreachable. */
interface Climb {
  readonly rungs: ReadonlyArray<Rung>
  readonly ends: boolean
}

const climb = (node: Node, reach: Reach): Climb => {
  switch (node.kind) {
    case "ladder":
      return up(node.rungs.map((rung) => climb(rung, reach)))
    case "retry":
    case "fix":
    case "ask":
    case "compact":
      return { rungs: mending([node], reach), ends: false }
    case "when":
      return node.among === undefined
        ? { rungs: [anything(node)], ends: false }
        : bounded(node, choosing(node.among, reach))
    default:
      return { rungs: [{ ...quiet, verdict: node.kind }], ends: true }
  }
}

const up = (climbs: ReadonlyArray<Climb>): Climb => {
  const last = climbs.findIndex(({ ends }) => ends)
  const reached = last < 0 ? climbs : climbs.slice(0, last + 1)
  return { rungs: reached.flatMap(({ rungs }) => rungs), ends: last >= 0 }
}

const quiet: Omit<Rung, "verdict"> = {
  waits: [],
  maxHint: Duration.zero,
  fixerRuns: 0,
  modelCalls: 0,
  fixerTime: Duration.zero,
  runsTool: false
}

const anything = ({ atMost }: Pick<When, "atMost">): Rung =>
  atMost === undefined
    ? {
        ...quiet,
        verdict: "when",
        fixerRuns: maxRepairs,
        runsTool: true,
        unknown: "chosen at each failure, bounded by the caps of a call alone"
      }
    : {
        ...quiet,
        verdict: "when",
        atMost,
        fixerRuns: maxRepairs,
        unknown: "chosen at each failure, as often as it says"
      }

/**
 * The rungs of a handler that declares its verdicts. Each verdict counts for itself. Options of retries see the same failures, so the
 * longest of them bounds them all.
 */
const choosing = (among: ReadonlyArray<Node>, reach: Reach): Climb => {
  const names = new Names()
  const nodes = [...new Map(among.flatMap(flat).map((node) => [names.of(node), node])).values()]
  const options = nodes.filter((node) => node.kind === "retry" && isOptions(node))
  const counting = nodes.filter((node) => isCounting(node) && !options.includes(node))
  const others = nodes.filter(({ kind }) => !isCounting({ kind }) && kind !== "ladder" && kind !== "when")
  const rungs = [
    ...mending(options, reach),
    ...counting.flatMap((node) => mending([node], reach)),
    ...nodes.flatMap((node) => (node.kind === "ladder" ? climb(node, reach).rungs : [])),
    ...others.map(({ kind }) => ({ ...quiet, verdict: kind }))
  ]
  return {
    rungs: [
      ...rungs.map((rung) => ({ ...rung, verdict: `when → ${rung.verdict}` })),
      ...nodes.flatMap((node) => (node.kind === "when" ? climb(node, reach).rungs : []))
    ],
    ends: nodes.length > 0 && others.length === nodes.length
  }
}

const isCounting = ({ kind }: Pick<Node, "kind">): boolean =>
  kind === "retry" || kind === "fix" || kind === "ask" || kind === "compact"

const flat = (node: Node): ReadonlyArray<Node> =>
  node.kind === "when" && node.among !== undefined && node.atMost === undefined ? node.among.flatMap(flat) : [node]

/** The rungs of a handler, limited by its `atMost`. */
const bounded = (node: When, climb: Climb): Climb => {
  const { atMost } = node
  if (atMost === undefined || sum(climb.rungs.map(repeats)) <= atMost) return climb
  return { ...climb, rungs: [anything(node), ...climb.rungs.filter((rung) => repeats(rung) === 0)] }
}

const repeats = ({ asks, atMost = 0, compactions = 0, fixerRuns, runsTool, unknown, waits }: Rung): number =>
  unknown !== undefined && atMost === 0
    ? Infinity
    : waits.length + atMost + compactions + (runsTool ? fixerRuns : 0) + (asks?.times ?? 0)

/** Merges verdicts into at most one rung for each kind: retries, fixers, persons and compactions. */
const mending = (nodes: ReadonlyArray<Node>, reach: Reach): ReadonlyArray<Rung> => {
  const retries = nodes.filter((node) => node.kind === "retry")
  const fixes = nodes.filter((node) => node.kind === "fix")
  const asked = nodes.filter((node) => node.kind === "ask")
  const compacts = nodes.filter((node) => node.kind === "compact")
  return [
    ...(retries.length === 0 ? [] : [retrying(retries, reach)]),
    ...(fixes.length === 0 ? [] : [fixing(fixes, reach)]),
    ...(asked.length === 0 ? [] : [persons(asked)]),
    ...(compacts.length === 0 ? [] : [compacting(compacts, reach)])
  ]
}

const retrying = (nodes: ReadonlyArray<Retry>, { repeats, samples }: Reach): Rung => {
  const admitted = nodes.filter(({ acknowledged }) => acknowledged || repeats)
  const schedules = admitted.map(({ schedule }) => schedule)
  return { ...quiet, verdict: "retry", ...(schedules.length === 0 ? {} : steps(schedules, samples)) }
}

const fixing = (nodes: ReadonlyArray<Fix>, { costOf, repairs }: Reach): Rung => {
  const admitted = nodes.filter(({ acknowledged, as }) => acknowledged || repairs || as === "result")
  return {
    ...quiet,
    ...dearestOf(admitted.map(({ fixer }) => costOf(fixer))),
    verdict: `fix ${named(nodes.map(({ fixer }) => fixer))}`.trimEnd(),
    fixerRuns: Math.min(maxRepairs, Math.max(0, ...admitted.map(({ maxRuns }) => maxRuns))),
    runsTool: admitted.some(({ as }) => as === "arguments")
  }
}

/** The rung of persons. With `onExpiry: "ask-again"` an expired request is made again, so the wait has no bound. */
const persons = (nodes: ReadonlyArray<Ask>): Rung => {
  const times = Math.min(maxRepairs, Math.max(0, ...nodes.map(({ maxRuns }) => maxRuns)))
  const each = Math.max(
    ...nodes.map(({ onExpiry, validFor }) => (onExpiry === "ask-again" ? Infinity : millis(validFor)))
  )
  return { ...quiet, verdict: "ask", asks: { times, time: Duration.millis(times * each) } }
}

const compacting = (nodes: ReadonlyArray<Compact>, { costOf }: Reach): Rung => ({
  ...quiet,
  ...dearestOf(nodes.map(({ compaction }) => costOf(compaction.agent))),
  verdict: `compact ${named(nodes.map(({ compaction }) => compaction))}`,
  compactions: maxCompactions
})

const named = (all: ReadonlyArray<{ readonly name: string }>): string =>
  [...new Set(all.map(({ name }) => name))].join(" or ")

const dearestOf = (costs: ReadonlyArray<Cost>): Pick<Rung, "modelCalls" | "fixerTime"> => ({
  modelCalls: Math.max(0, ...costs.map(({ modelCalls }) => modelCalls)),
  fixerTime: Duration.millis(Math.max(0, ...costs.map(({ millis }) => millis)))
})

/** The worst cost of all compactions: each gives up at most once, and the last attempt may be the dearest again. */
const compactionsAtWorst = (rungs: ReadonlyArray<Rung>, of: (rung: Rung) => number): number => {
  const costs = rungs.filter(({ compactions }) => compactions !== undefined).map(of)
  return sum(costs) + Math.max(0, ...costs)
}

const worstOf = (rungs: ReadonlyArray<Rung>, { attempt, inner }: Options): Worst => {
  const hasUnknown = rungs.some(({ atMost, unknown }) => unknown !== undefined && atMost === undefined)
  const isWaitUnknown = rungs.some(({ unknown }) => unknown !== undefined)
  const retries = sum(rungs.map(({ atMost = 0, waits }) => waits.length + atMost))
  const repairs = rungs.flatMap((rung) => Array.from({ length: rung.fixerRuns }, () => rung))
  const repeatingRepairs = repairs.filter(({ runsTool }) => runsTool).length
  const asks = sum(rungs.map(({ asks }) => asks?.times ?? 0))
  const asked = sum(rungs.map(({ asks }) => (asks === undefined ? 0 : millis(asks.time))))
  const compacted = Math.min(maxCompactions, sum(rungs.map(({ compactions = 0 }) => compactions)))
  const counted = hasUnknown ? Infinity : 1 + retries + Math.min(maxRepairs, repeatingRepairs + asks) + compacted
  const attempts = Math.min(maxAttemptsPerCall, counted)
  const dearest = (of: (rung: Rung) => number): number => {
    const costs = repairs.map(of).toSorted((a, b) => b - a)
    return sum(costs.slice(0, maxRepairs))
  }
  const waits = rungs.flatMap((rung) => rung.waits.map(({ most }) => millis(most)))
  const stretched = rungs.flatMap((rung) => rung.waits.map(({ most }) => Math.max(millis(most), millis(rung.maxHint))))
  const each = attempt === undefined ? millis(inner?.worst.time ?? Duration.zero) : millis(attempt)
  const timeOf = ({ fixerTime }: Rung): number => millis(fixerTime)
  const fixing = dearest(timeOf) + compactionsAtWorst(rungs, timeOf)
  return {
    attempts,
    ...(retries < maxAttemptsPerCall - 1 && !hasUnknown ? {} : { isUnbounded: true }),
    requests: attempts * (inner?.worst.requests ?? 1),
    fixerRuns: Math.min(maxRepairs, repairs.length),
    ...(asks === 0 ? {} : { asks: Math.min(maxRepairs, asks) }),
    modelCalls:
      dearest(({ modelCalls }) => modelCalls) +
      compactionsAtWorst(rungs, ({ modelCalls }) => modelCalls) +
      attempts * (inner?.worst.modelCalls ?? 0),
    waits: Duration.millis(isWaitUnknown ? Infinity : sum(waits)),
    time: Duration.millis((isWaitUnknown ? Infinity : sum(stretched) + fixing + asked) + attempts * each)
  }
}

const millis = (input: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(input))

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, next) => total + next, 0)
