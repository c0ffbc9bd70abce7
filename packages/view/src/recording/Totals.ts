/**
 * The sums of a recording: its attempts, its waits, and the spending on recovery and on work.
 *
 * Recovery is the spending that failures caused:
 *
 * - attempts that failed or were discarded, and attempts of a composition's part that was discarded
 * - all model calls of fixers, and of runs within them
 * - summaries of conversations that were too long
 * - repeated model calls after an answer that did not fit its schema
 *
 * A model call after a tell is work, because the model might have made another call without the failure too.
 */
import { amountAt, at, textAt } from "./Fields.ts"
import type { Recorded } from "./Recorded.ts"
import { count, money } from "../text/Words.ts"

/** The spending on work, or on recovery. */
export interface Spending {
  /** The number of attempts of models. */
  readonly attempts: number
  /** The tokens of the attempts: the sum of input and output. */
  readonly tokens: number
  /** The cost of the attempts whose price is known, in US dollars. */
  readonly cost: number
  /** How many attempts have no reported usage, or ended without a reply and with none: what they have used is not known. */
  readonly unknown: number
}

/** The sums over all runs of a recording. */
export interface Totals {
  /** `runs`: the number of runs without a parent in the recording. `nested`: the number of the other runs. */
  readonly runs: number
  readonly nested: number
  /** `nestedTurns`: how many of the turns are those of nested runs. */
  readonly turns: number
  readonly nestedTurns: number
  readonly toolCalls: number
  /** `toolFailures`: the number of failed attempts of tools. `modelFailures`: that of models. */
  readonly toolFailures: number
  readonly modelFailures: number
  /** The number of failed sends of the transport, including those that it repeated. */
  readonly sendFailures: number
  /** The number of verdicts of all layers. */
  readonly verdicts: number
  /** The sum of all waits that verdicts decided on, in milliseconds. Waits at the same time are added too. */
  readonly waited: number
  readonly work: Spending
  readonly recovery: Spending
  /** Whether there are attempts that used tokens, and the price of each of them is known. */
  readonly isPriced: boolean
}

/** The types of the events that end an attempt of a model. */
const asked: ReadonlySet<string> = new Set(["model-end", "model-failed", "model-interrupted"])

/** What is known about a run while its events are counted. */
interface Counted {
  readonly parent: string | undefined
  /** Whether the next model call repeats a call whose answer did not fit the schema. */
  isRetrying: boolean
}

interface Attempt {
  readonly runId: string
  readonly isRecovery: boolean
  readonly isReported: boolean
  readonly tokens: number
  readonly cost: number | undefined
}

/** Sums up these events, which are in order. */
export const make = (events: Iterable<Recorded>): Totals => {
  const runs = new Map<string, Counted>()
  /** The ids of runs that were discarded. The attempts of their descendants count as recovery too. */
  const lost = new Set<string>()
  const attempts: Array<Attempt> = []
  const counts = {
    turns: 0,
    nestedTurns: 0,
    toolCalls: 0,
    toolFailures: 0,
    modelFailures: 0,
    sendFailures: 0,
    verdicts: 0,
    waited: 0
  }
  for (const event of events) {
    const run = runs.get(event.runId) ?? { parent: event.parent?.runId, isRetrying: false }
    runs.set(event.runId, run)
    if (asked.has(event.type)) attempts.push(attemptOf(event, run.isRetrying))
    switch (event.type) {
      case "turn-start":
        counts.turns++
        if (event.parent !== undefined) counts.nestedTurns++
        break
      case "turn-end":
        run.isRetrying = false
        break
      case "tool-start":
        counts.toolCalls++
        break
      case "tool-failed":
        counts.toolFailures++
        break
      case "model-failed":
        counts.modelFailures++
        break
      case "output-rejected":
        run.isRetrying = event["message"] !== undefined
        break
      case "verdict":
        counts.verdicts++
        counts.waited += amountAt(event, "delay") ?? 0
        if (event["layer"] === "transport") counts.sendFailures++
        break
      case "attempt-discarded": {
        const part = textAt(event, "discardedRunId")
        if (part !== undefined) lost.add(part)
        break
      }
    }
  }
  const isLost = descendsFrom(runs, lost)
  const isRecovery = ({ isRecovery, runId }: Attempt) => isRecovery || isLost(runId)
  const roots = [...runs.values()].filter(({ parent }) => parent === undefined).length
  const used = attempts.filter(({ cost, tokens }) => tokens > 0 || cost !== undefined)
  return {
    runs: roots,
    nested: runs.size - roots,
    ...counts,
    work: sum(attempts.filter((attempt) => !isRecovery(attempt))),
    recovery: sum(attempts.filter(isRecovery)),
    isPriced: used.length > 0 && used.every(({ cost }) => cost !== undefined)
  }
}

const attemptOf = (event: Recorded, isRetrying: boolean): Attempt => {
  const purpose = textAt(event, "entry", "purpose")
  const outcome = textAt(event, "entry", "outcome") ?? (event.type === "model-failed" ? "failed" : "used")
  return {
    runId: event.runId,
    isRecovery:
      isRetrying || purpose === "fixer" || purpose === "compaction" || outcome === "failed" || outcome === "discarded",
    isReported: event.type === "model-end" && at(event, "entry", "usage") !== undefined,
    tokens:
      (amountAt(event, "entry", "usage", "inputTokens") ?? 0) +
      (amountAt(event, "entry", "usage", "outputTokens") ?? 0),
    cost: amountAt(event, "entry", "cost")
  }
}

/** Makes a function that tells whether a run is one of `roots`, or a descendant of one. It looks at each run once. */
const descendsFrom = (runs: ReadonlyMap<string, Counted>, roots: ReadonlySet<string>) => {
  const decided = new Map<string, boolean>()
  return (runId: string): boolean => {
    // Mutant `["Stryker was here"]` survives: no run has this id
    const path: Array<string> = []
    let at: string | undefined = runId
    while (at !== undefined && !decided.has(at)) {
      path.push(at)
      decided.set(at, roots.has(at))
      if (roots.has(at)) break
      at = runs.get(at)?.parent
    }
    const found = at !== undefined && decided.get(at) === true
    for (const id of path) decided.set(id, found)
    return found
  }
}

const sum = (attempts: ReadonlyArray<Attempt>): Spending => {
  const total = { attempts: attempts.length, tokens: 0, cost: 0, unknown: 0 }
  for (const { cost = 0, isReported, tokens } of attempts) {
    total.tokens += tokens
    total.cost += cost
    if (tokens === 0 && !isReported) total.unknown++
  }
  return total
}

/** A spending in words: money, or tokens if not all prices are known. A part that is not known is said, and is not 0. */
export const amount = ({ attempts, cost, tokens, unknown }: Spending, isPriced: boolean): string => {
  if (attempts > 0 && unknown === attempts) return "unknown"
  // the known part is none of it
  if (unknown > 0 && (isPriced ? cost : tokens) === 0) return "unknown"
  return `${unknown === 0 ? "" : "at least "}${isPriced ? money(cost) : count(tokens, "token")}`
}
