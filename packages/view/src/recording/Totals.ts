/**
 * The sums of a recording: attempts, waits, and the spending on recovery and on work.
 *
 * Recovery is the spending that failures caused: attempts that failed or were discarded, attempts of a part of a composition that does
 * not count, all model calls of fixers and of runs within them, summaries of conversations that were too long, and repeated model calls
 * after an answer that did not fit its schema. A call of the model after a tell is work: without the failure, it might have made
 * another one.
 */
import { amountAt, textAt } from "./Fields.ts"
import type { Recorded } from "./Recorded.ts"

/** The spending on work, or on recovery. */
export interface Spending {
  /** Attempts of models. */
  readonly attempts: number
  /** Input and output together. */
  readonly tokens: number
  /** The cost of the attempts with a known price, in US dollars. */
  readonly cost: number
}

/** Sums over all runs of a recording. */
export interface Totals {
  /** Runs without a parent in the recording, and nested ones. */
  readonly runs: number
  readonly nested: number
  readonly turns: number
  readonly toolCalls: number
  /** Failed attempts of tools, and of models. */
  readonly toolFailures: number
  readonly modelFailures: number
  /** Failed sends of the transport, also those that it sent again. */
  readonly sendFailures: number
  /** Verdicts of all layers. */
  readonly verdicts: number
  /** Milliseconds of all waits that verdicts decided on; waits at the same time add up. */
  readonly waited: number
  readonly work: Spending
  readonly recovery: Spending
  /** Whether the price of every attempt that used tokens is known, and there is one. */
  readonly isPriced: boolean
}

/** The attempts of a model, each ended one way or another. */
const asked: ReadonlySet<string> = new Set(["model-end", "model-failed", "model-interrupted"])

/** The state of a run while its events are counted. */
interface Counted {
  readonly parent: string | undefined
  /** Whether its next model call repeats one whose answer did not fit. */
  isRetrying: boolean
}

interface Attempt {
  readonly runId: string
  readonly isRecovery: boolean
  readonly tokens: number
  readonly cost: number | undefined
}

/** The sums of these events, in order. */
export const make = (events: Iterable<Recorded>): Totals => {
  const runs = new Map<string, Counted>()
  /** Runs whose work does not count, and so that of their descendants. */
  const lost = new Set<string>()
  const attempts: Array<Attempt> = []
  const counts = { turns: 0, toolCalls: 0, toolFailures: 0, modelFailures: 0, sendFailures: 0, verdicts: 0, waited: 0 }
  for (const event of events) {
    const run = runs.get(event.runId) ?? { parent: event.parent?.runId, isRetrying: false }
    runs.set(event.runId, run)
    if (asked.has(event.type)) attempts.push(attemptOf(event, run.isRetrying))
    switch (event.type) {
      case "turn-start":
        counts.turns++
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
    tokens:
      (amountAt(event, "entry", "usage", "inputTokens") ?? 0) +
      (amountAt(event, "entry", "usage", "outputTokens") ?? 0),
    cost: amountAt(event, "entry", "cost")
  }
}

/** Whether a run is one of the roots or a descendant of one; each run is looked at once. */
const descendsFrom = (runs: ReadonlyMap<string, Counted>, roots: ReadonlySet<string>) => {
  const decided = new Map<string, boolean>()
  return (runId: string): boolean => {
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
  const total = { attempts: attempts.length, tokens: 0, cost: 0 }
  for (const { cost = 0, tokens } of attempts) {
    total.tokens += tokens
    total.cost += cost
  }
  return total
}
