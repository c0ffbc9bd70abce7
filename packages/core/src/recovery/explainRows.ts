/** What a policy would do at worst: its rungs, and the script of failures that keeps it going for longest. */
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

/** What `explain` cannot read from a policy. */
export interface Options {
  /**
   * Failures that the policy may meet. Schedules that look at their input are tried on those of their row; without any, on the
   * most generous advice that an error of this library gives for the tag of the row.
   */
  readonly errors?: ReadonlyArray<unknown>
  /** How long one attempt may take, its timeout say; without it `time` counts waits alone. */
  readonly attempt?: Duration.Input
  /** The worst case of one attempt, if an inner layer recovers it. */
  readonly inner?: { readonly worst: Pick<Worst, "requests" | "modelCalls" | "time"> }
  /** Whether the guarded work has unsafe side effects: then only a row that acknowledges them repeats it. */
  readonly isUnsafe?: boolean
  /** Whether a lookup finds out what an interrupted run did: a run without effect may be repeated. */
  readonly isLookedUp?: boolean
}

/** `costOf` knows what one run of a fixer may cost, and of what shortens conversations. */
export const explainRows = (rows: Rows, options: Options, costOf: (agent: unknown) => Cost): Explanation => {
  const explained: ReadonlyArray<Row> = [...rows].map(([key, node]) => ({
    key,
    rungs: climb(node, { samples: samplesFor(key, options.errors), ...admittedTo(key, options), costOf }).rungs
  }))
  const all = explained.flatMap(({ rungs }) => rungs)
  return { rows: explained, worst: worstOf(all, options) }
}

/** After these failures the tool has not run, or a lookup says that it had no effect: it may run in spite of its side effects. */
const repeatable: ReadonlySet<string> = new Set(["InvalidArgs", "DeserializationError", "ToolTimeoutError"])

/** The rows that a timeout reaches when it has none of its own. */
const beyondTimeouts: ReadonlySet<string> = new Set(["ExecutionError", "orElse"])

const admittedTo = (
  key: string,
  { isLookedUp = false, isUnsafe = false }: Options
): Pick<Reach, "repeats" | "repairs"> => {
  const repeats = !isUnsafe || repeatable.has(key) || (isLookedUp && beyondTimeouts.has(key))
  // bad arguments are repaired by the rest of a table too: nothing has run
  return { repeats, repairs: repeats || key === "orElse" }
}

/** The failures that reach a row, and what the row may do about them without an acknowledgement. */
interface Reach {
  readonly samples: ReadonlyArray<unknown>
  readonly repeats: boolean
  readonly repairs: boolean
  readonly costOf: (agent: unknown) => Cost
}

/** The rungs that a verdict comes to; `ends` when it never gives up, so that no further rung is reached. */
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
 * What a handler chooses among counts each by itself, but for options of retries: these are read against the same failures, so the
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

/** What a handler chooses among, but no more of it than it says itself. */
const bounded = (node: When, climb: Climb): Climb => {
  const { atMost } = node
  if (atMost === undefined || sum(climb.rungs.map(repeats)) <= atMost) return climb
  return { ...climb, rungs: [anything(node), ...climb.rungs.filter((rung) => repeats(rung) === 0)] }
}

const repeats = ({ asks, atMost = 0, compactions = 0, fixerRuns, runsTool, unknown, waits }: Rung): number =>
  unknown !== undefined && atMost === 0
    ? Infinity
    : waits.length + atMost + compactions + (runsTool ? fixerRuns : 0) + (asks?.times ?? 0)

/** One rung for all retries, one for all fixers, one for all persons and one for all compactions, where there are any. */
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

/** A request that is made anew when it has expired waits for as long as a person lets it. */
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

/** Each compaction gives up once at most, and the last one that is asked may be the dearest: that is one more than there are. */
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
