/**
 * A fuzzer guided by coverage. Cases are drawn in batches by fast-check, from a corpus that grows: where a batch ran a block that
 * never ran before, its cases run again, and those that run something new are kept.
 */
import * as fc from "fast-check"
import type { Coverage } from "./covering.ts"
import { plan } from "./drawing.ts"
import { applied, wordsOf } from "./mutating.ts"
import { smallest } from "./shrinking.ts"
import type { Target } from "./targets.ts"

/** An input that fails, as small as it was made. */
export interface Finding {
  readonly input: string
  readonly message: string
}

/** How far a run has come. */
export interface Progress {
  readonly seconds: number
  readonly executions: number
  readonly covered: number
  readonly total: number
  readonly corpus: number
  readonly findings: number
}

export interface Options {
  readonly target: Target
  /** Inputs of earlier runs. */
  readonly before: ReadonlyArray<string>
  readonly seed: number
  readonly seconds: number
  readonly coverage: Coverage
  readonly onAdded: (input: string) => void
  readonly onFinding: (finding: Finding) => void
  /** Called once in ten seconds, and at the end. */
  readonly onProgress: (progress: Progress) => void
}

const batchSize = 64

/** An input may not take longer than this, in milliseconds. */
const longest = 1_000

/** Other ways to fail are looked for until there are so many. */
const maxFindings = 20

export const fuzz = ({
  before,
  coverage,
  onFinding,
  onAdded,
  onProgress,
  seconds,
  seed,
  target
}: Options): Progress => {
  const { check, form, seeds } = target
  const words = [...new Set([...target.words, ...wordsOf(seeds)])]
  const corpus = [...new Set([...seeds, ...before])]
  const plans = plan(form)
  const kinds = new Set<string>()
  const start = performance.now()
  let executions = 0
  let reportedAt = 0

  const secondsGone = () => (performance.now() - start) / 1000
  const progress = (): Progress => ({
    seconds: secondsGone(),
    executions,
    ...coverage.blocks,
    corpus: corpus.length,
    findings: kinds.size
  })

  const run = (input: string): string | undefined => {
    executions++
    return failureOf(check, input)
  }

  /** Runs an input; a failure of a new kind is made small and reported. */
  const examine = (input: string): void => {
    const message = run(input)
    if (message === undefined || kinds.has(kindOf(message))) return
    const kind = kindOf(message)
    kinds.add(kind)
    const isSame = (text: string) => kindOf(run(text) ?? "") === kind
    const small = isSame(input) ? smallest(input, isSame) : input
    onFinding({ input: small, message: failureOf(check, small) ?? message })
  }

  const keep = (input: string): void => {
    if (corpus.includes(input)) return
    corpus.push(input)
    onAdded(input)
  }

  /** Runs inputs again, by halves, until those are found that run something new. */
  const attribute = (inputs: ReadonlyArray<string>): void => {
    for (const input of inputs) run(input)
    const report = coverage.look()
    const [first] = inputs
    if (first === undefined || !coverage.wouldAdd(report)) return
    if (inputs.length > 1) {
      const half = Math.ceil(inputs.length / 2)
      attribute(inputs.slice(0, half))
      attribute(inputs.slice(half))
    } else if (coverage.add(report)) keep(first)
  }

  const runBatch = (inputs: ReadonlyArray<string>): void => {
    for (const input of inputs) examine(input)
    const report = coverage.look()
    if (!coverage.wouldAdd(report)) return
    attribute(inputs)
    // what runs only once in a process
    coverage.add(report)
  }

  coverage.look()
  runBatch(corpus)
  for (let batch = 0; secondsGone() < seconds && kinds.size < maxFindings; batch++) {
    const drawn = fc.sample(plans, { numRuns: batchSize, seed: seed + batch })
    runBatch(drawn.map((plan) => applied(plan, { inputs: corpus, words })))
    if (secondsGone() < reportedAt + 10) continue
    reportedAt = secondsGone()
    onProgress(progress())
  }
  const end = progress()
  onProgress(end)
  return end
}

/** What a check said against an input; nothing where it holds. */
export const failureOf = (check: Target["check"], input: string): string | undefined => {
  const start = performance.now()
  try {
    check(input)
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  const millis = performance.now() - start
  return millis < longest ? undefined : `slow: an input of ${input.length} characters took ${Math.round(millis)} ms`
}

/** Two failures are of one kind when they come from the same place. */
const kindOf = (message: string): string => {
  const frames = message.split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("node:"))
  const [name = ""] = message.split(/[:\n]/)
  return [name, ...frames.slice(0, 2).map((line) => line.replace(/^.*\//, ""))].join(" ")
}
