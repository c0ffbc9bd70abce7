/**
 * What a recording comes to: attempts, time waited, and what was spent on recovery against what was spent on work.
 *
 * Recovery is what would not have been spent had nothing failed: attempts that failed or were discarded, those of a part of a
 * composition that does not count, everything that fixers and what runs below them have asked, summaries of conversations that were
 * too long, and what was asked again because an answer did not fit its schema. Where a model was told of an error and called again,
 * nothing tells what it would have done otherwise: that is work.
 */
import { amountAt, textAt } from "./Fields.ts"
import type { Recorded } from "./Recording.ts"

/** What was spent on one of both. */
export interface Spending {
  /** Of models: how often one was asked. */
  readonly attempts: number
  /** Input and output together. */
  readonly tokens: number
  /** Of those attempts whose price is known, in its currency. */
  readonly cost: number
}

/** Sums over all runs of a recording. */
export interface Totals {
  /** Runs that nobody in the recording has started, and those below them. */
  readonly runs: number
  readonly nested: number
  readonly turns: number
  readonly toolCalls: number
  /** How often tools have failed, and models. */
  readonly toolFailures: number
  readonly modelFailures: number
  /** How often the transport has sent in vain, also where it sent again. */
  readonly sendFailures: number
  /** Verdicts of all layers. */
  readonly verdicts: number
  /** Milliseconds of waits that were decided on, all layers together, also where several waited at once. */
  readonly waited: number
  readonly work: Spending
  readonly recovery: Spending
  /** Whether the price of every attempt that used tokens is known, and there is one. */
  readonly isPriced: boolean
}

/** The attempts of a model, each ended one way or another. */
const asked: ReadonlySet<string> = new Set(["model-end", "model-failed", "model-interrupted"])

/** What is known of a run while its events are counted. */
interface Counted {
  readonly above: string | undefined
  /** Whether what it asks now is asked again, as its last answer did not fit. */
  asksAgain: boolean
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
  /** Runs whose work does not count, with what runs below them. */
  const lost = new Set<string>()
  const attempts: Array<Attempt> = []
  const counts = { turns: 0, toolCalls: 0, toolFailures: 0, modelFailures: 0, sendFailures: 0, verdicts: 0, waited: 0 }
  for (const event of events) {
    const run = runs.get(event.runId) ?? { above: event.parent?.runId, asksAgain: false }
    runs.set(event.runId, run)
    if (asked.has(event.type)) attempts.push(attemptOf(event, run.asksAgain))
    switch (event.type) {
      case "turn-start":
        counts.turns++
        break
      case "turn-end":
        run.asksAgain = false
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
        run.asksAgain = event["message"] !== undefined
        break
      case "verdict":
        counts.verdicts++
        counts.waited += amountAt(event, "delay") ?? 0
        if (event["layer"] === "transport") counts.sendFailures++
        break
      case "attempt-discarded": {
        const part = textAt(event, "run")
        if (part !== undefined) lost.add(part)
        break
      }
    }
  }
  const isLost = below(runs, lost)
  const isRecovery = ({ isRecovery, runId }: Attempt) => isRecovery || isLost(runId)
  const above = [...runs.values()].filter(({ above }) => above === undefined).length
  const used = attempts.filter(({ cost, tokens }) => tokens > 0 || cost !== undefined)
  return {
    runs: above,
    nested: runs.size - above,
    ...counts,
    work: sum(attempts.filter((attempt) => !isRecovery(attempt))),
    recovery: sum(attempts.filter(isRecovery)),
    isPriced: used.length > 0 && used.every(({ cost }) => cost !== undefined)
  }
}

const attemptOf = (event: Recorded, asksAgain: boolean): Attempt => {
  const layer = textAt(event, "spent", "layer")
  const outcome = textAt(event, "spent", "outcome") ?? (event.type === "model-failed" ? "failed" : "used")
  return {
    runId: event.runId,
    isRecovery:
      asksAgain || layer === "fixer" || layer === "compaction" || outcome === "failed" || outcome === "discarded",
    tokens:
      (amountAt(event, "spent", "usage", "inputTokens") ?? 0) +
      (amountAt(event, "spent", "usage", "outputTokens") ?? 0),
    cost: amountAt(event, "spent", "cost")
  }
}

/** Whether a run is one of these or below one; each is looked at once. */
const below = (runs: ReadonlyMap<string, Counted>, roots: ReadonlySet<string>) => {
  const known = new Map<string, boolean>()
  return (runId: string): boolean => {
    const path: Array<string> = []
    let at: string | undefined = runId
    while (at !== undefined && !known.has(at)) {
      path.push(at)
      known.set(at, roots.has(at))
      if (roots.has(at)) break
      at = runs.get(at)?.above
    }
    const found = at !== undefined && known.get(at) === true
    for (const id of path) known.set(id, found)
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
