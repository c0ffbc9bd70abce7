/** Computes what a policy would do at worst: its rungs, and the script of failures that keeps it going for longest. */
import * as Duration from "effect/Duration"
import type { Explanation, Row, Rung, Worst } from "../Explanation.ts"
import { type Samples, samplesFor, steps } from "./explainingSchedule.ts"
import type { Fix, Node, Retry, Rows } from "./verdict.ts"
import { maxAttemptsPerCall, maxRepairRounds, modelCallsOf } from "./verdictBounds.ts"

export interface Options {
  /**
   * Failures that the policy may meet. Schedules that look at their input are tried on those of their row; without any, on the
   * most generous advice that an error of this library gives for the tag of the row.
   */
  readonly errors?: ReadonlyArray<unknown>
  /** How long one attempt may take, its timeout say; without it `time` counts waits alone. */
  readonly attempt?: Duration.Input
  /** What one attempt is at worst, where it is recovered by a layer of its own. */
  readonly below?: Explanation
}

export const explain = (rows: Rows, options: Options = {}): Explanation => {
  const explained: ReadonlyArray<Row> = [...rows].map(([key, node]) => ({
    key,
    rungs: climb(node, samplesFor(key, options.errors)).rungs
  }))
  return {
    rows: explained,
    worst: worstOf(
      explained.flatMap(({ rungs }) => rungs),
      options
    )
  }
}

/** The rungs that a verdict comes to; `ends` when it never gives up, so that no further rung is reached. */
interface Climb {
  readonly rungs: ReadonlyArray<Rung>
  readonly ends: boolean
}

const climb = (node: Node, samples: Samples): Climb => {
  switch (node.kind) {
    case "ladder":
      return up(node.rungs.map((rung) => climb(rung, samples)))
    case "retry":
      return { rungs: [retrying("retry", [node], samples)], ends: false }
    case "fix":
      return { rungs: [fixing("fix", [node])], ends: false }
    case "when":
      return node.among === undefined ? anything : choosing(node.among, samples)
    default:
      return { rungs: [{ ...quiet, verdict: node.kind }], ends: true }
  }
}

const up = (climbs: ReadonlyArray<Climb>): Climb => {
  const last = climbs.findIndex(({ ends }) => ends)
  const reached = last < 0 ? climbs : climbs.slice(0, last + 1)
  return { rungs: reached.flatMap(({ rungs }) => rungs), ends: last >= 0 }
}

const quiet: Omit<Rung, "verdict"> = { waits: [], maxHint: Duration.zero, fixerRuns: 0, modelCalls: 0 }

const anything: Climb = {
  rungs: [
    {
      ...quiet,
      verdict: "when",
      fixerRuns: maxRepairRounds,
      unknown: "chosen at each failure, bounded by the caps of a call alone"
    }
  ],
  ends: false
}

/**
 * What a `when` chooses among shares one slot: one schedule for all its retries, one count for all its fixers, one position
 * for all its ladders.
 */
const choosing = (among: ReadonlyArray<Node>, samples: Samples): Climb => {
  const nodes = among.flatMap(flat)
  const retries = nodes.filter((node) => node.kind === "retry")
  const fixes = nodes.filter((node) => node.kind === "fix")
  const ladders = nodes.filter((node) => node.kind === "ladder")
  const others = nodes.filter(({ kind }) => !["retry", "fix", "ladder", "when"].includes(kind))
  const depth = Math.max(0, ...ladders.map(({ rungs }) => rungs.length))
  const merged = Array.from({ length: depth }, (_, index) =>
    choosing(
      ladders.flatMap(({ rungs }) => rungs[index] ?? []),
      samples
    )
  )
  const labelled = (rungs: ReadonlyArray<Rung>) => rungs.map((rung) => ({ ...rung, verdict: `when → ${rung.verdict}` }))
  const isOpen = nodes.some(({ kind }) => kind === "when")
  return {
    rungs: [
      ...(retries.length === 0 ? [] : labelled([retrying("retry", retries, samples)])),
      ...(fixes.length === 0 ? [] : labelled([fixing("fix", fixes)])),
      ...merged.flatMap(({ rungs }) => rungs),
      ...labelled([...new Set(others.map(({ kind }) => kind))].map((verdict) => ({ ...quiet, verdict }))),
      ...(isOpen ? anything.rungs : [])
    ],
    ends: nodes.length > 0 && others.length === nodes.length
  }
}

const flat = (node: Node): ReadonlyArray<Node> =>
  node.kind === "when" && node.among !== undefined ? node.among.flatMap(flat) : [node]

const retrying = (verdict: string, nodes: ReadonlyArray<Retry>, samples: Samples): Rung => ({
  ...quiet,
  verdict,
  ...steps(
    nodes.map(({ schedule }) => schedule),
    samples
  )
})

const fixing = (verdict: string, nodes: ReadonlyArray<Fix>): Rung => ({
  ...quiet,
  verdict: `${verdict} ${[...new Set(nodes.map(({ fixer }) => fixer.name))].join(" or ")}`.trimEnd(),
  fixerRuns: Math.min(maxRepairRounds, Math.max(...nodes.map(({ maxRuns }) => maxRuns))),
  modelCalls: Math.max(...nodes.map(({ fixer }) => modelCallsOf(fixer) ?? 0))
})

const worstOf = (rungs: ReadonlyArray<Rung>, { attempt, below }: Options): Worst => {
  const isOpen = rungs.some(({ unknown }) => unknown !== undefined)
  const retries = rungs.reduce((sum, { waits }) => sum + waits.length, 0)
  const rounds = rungs.flatMap(({ fixerRuns, modelCalls }) => Array.from({ length: fixerRuns }, () => modelCalls))
  const dearest = rounds.toSorted((a, b) => b - a).slice(0, maxRepairRounds)
  const attempts = isOpen ? maxAttemptsPerCall : Math.min(maxAttemptsPerCall, 1 + retries + dearest.length)
  const waits = isOpen ? Infinity : sum(rungs.flatMap((rung) => rung.waits.map(({ most }) => millis(most))))
  const stretched = rungs.flatMap((rung) => rung.waits.map(({ most }) => Math.max(millis(most), millis(rung.maxHint))))
  const each = attempt === undefined ? millis(below?.worst.time ?? Duration.zero) : millis(attempt)
  return {
    attempts,
    requests: attempts * (below?.worst.requests ?? 1),
    fixerRuns: dearest.length,
    modelCalls: sum(dearest) + attempts * (below?.worst.modelCalls ?? 0),
    waits: Duration.millis(waits),
    time: Duration.millis((isOpen ? Infinity : sum(stretched)) + attempts * each)
  }
}

const millis = (input: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(input))

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, next) => total + next, 0)
