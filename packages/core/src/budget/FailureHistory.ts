/**
 * The failing calls of a run: how many batches in a row failed, how often each tool failed, and whether it failed in the same way. A batch
 * is all calls of one reply; several failures of a tool in it count once.
 */

import * as Schema from "effect/Schema"
import type { Budget } from "./Budget.ts"

/** Failures of one tool in a row. */
interface Streak extends Schema.Schema.Type<typeof Streak> {}

const Streak = Schema.Struct({
  tool: Schema.String,
  failures: Schema.Finite,
  repeats: Schema.Finite,
  signature: Schema.optionalKey(Schema.String)
})

/** The failures that a run remembers, as data. */
export const Failures = Schema.Struct({
  failingBatches: Schema.Finite,
  isToolsOff: Schema.Boolean,
  withheld: Schema.Array(Schema.String),
  streaks: Schema.Array(Streak)
})

/** The outcome of one call of a batch, reduced to the parts that matter for later calls. */
export interface CallOutcome extends Schema.Schema.Type<typeof CallOutcome> {}

export const CallOutcome = Schema.Struct({
  /** The tool; all unknown names share one bucket. */
  tool: Schema.String,
  isError: Schema.Boolean,
  /** The signature of the failure: equal for failures that differ only in numbers, ids and quoted values. */
  signature: Schema.optionalKey(Schema.String),
  /** Whether the policy that told the failure turns tools off after this batch; absent for policies that never do. */
  wantsToolsOff: Schema.optionalKey(Schema.Boolean),
  /** Whether the call was refused before it ran, so the tool did not fail. */
  isDenied: Schema.optionalKey(Schema.Boolean)
})

/** The bucket for calls of unknown tools. */
export const unknownTool = ""

const none: ReadonlySet<string> = new Set()

/**
 * The failures of one run: it records batches, and answers which tools are withheld and when the run ends. Mutable, and owned
 * by its run.
 */
export class FailureHistory {
  readonly #limits: Budget["repeatedFailures"]
  /** The counts per tool; created at the first failure. */
  #failed: Map<string, Streak> | undefined
  #failingBatches = 0
  #withheld = none
  #isToolsOff = false

  constructor(limits: Budget["repeatedFailures"]) {
    this.#limits = limits
  }

  get #streaks(): Map<string, Streak> {
    return (this.#failed ??= new Map())
  }

  /** The history as data, for a snapshot. */
  get state(): typeof Failures.Type {
    return {
      failingBatches: this.#failingBatches,
      isToolsOff: this.#isToolsOff,
      withheld: [...this.#withheld],
      streaks: [...this.#streaks.values()]
    }
  }

  restore({ failingBatches, isToolsOff, streaks, withheld }: typeof Failures.Type): void {
    this.#failingBatches = failingBatches
    this.#isToolsOff = isToolsOff
    this.#withheld = new Set(withheld)
    for (const streak of streaks) this.#streaks.set(streak.tool, streak)
  }

  /** Batches with at least one failure, in a row, the last one included. */
  get failingBatches(): number {
    return this.#failingBatches
  }

  /** Whether no failure restricts any tool: requests are made as usual. */
  get isCalm(): boolean {
    return !this.#isToolsOff && this.#withheld.size === 0
  }

  /** The tools that are not offered in the next turn. */
  get withheld(): ReadonlySet<string> {
    return this.#withheld
  }

  /** Whether tools are switched off for the rest of the run. */
  get isToolsOff(): boolean {
    return this.#isToolsOff
  }

  /** Batches in a row in which this tool failed. */
  failuresInARow(tool: string): number {
    return this.#streaks.get(tool)?.failures ?? 0
  }

  /** Whether a further failure of this kind is to be told with the hint that repeating it does not help. */
  isRepeated(tool: string, failure: string): boolean {
    const streak = this.#streaks.get(tool)
    const before = streak?.signature?.startsWith(signatureWith(failure, "")) === true ? streak.repeats : 0
    return before + 1 >= this.#limits.hint
  }

  /** Records a batch. Returns the tool that reached the limit of equal failures, if one did. */
  record(
    batch: ReadonlyArray<CallOutcome>,
    stop: number
  ): { readonly tool: string; readonly repeats: number } | undefined {
    const failing = batch.filter((outcome) => outcome.isError)
    this.#withheld = none
    if (this.#failed !== undefined) this.#forget(batch)
    if (failing.length === 0) {
      this.#failingBatches = 0
      return undefined
    }
    this.#failingBatches++
    const wishes = failing.flatMap(({ wantsToolsOff }) => wantsToolsOff ?? [])
    this.#isToolsOff ||= wishes.length > 0 && wishes.every((wantsToolsOff) => wantsToolsOff)
    for (const [tool, signatures] of byTool(failing, batch)) this.#count(tool, signatures)
    return this.#worst(stop)
  }

  /** A success of a tool clears its failures. */
  #forget(batch: ReadonlyArray<CallOutcome>): void {
    for (const { isError, tool } of batch) {
      if (isError) continue
      this.#streaks.delete(tool)
      this.#streaks.delete(denials(tool))
    }
  }

  #count(tool: string, signatures: ReadonlyArray<string>): void {
    const before: Streak = this.#streaks.get(tool) ?? { tool, failures: 0, repeats: 0 }
    const failures = before.failures + 1
    const [first] = signatures
    if (first === undefined) return void this.#streaks.set(tool, { ...before, failures })
    const isSame = before.signature !== undefined && signatures.includes(before.signature)
    const repeats = isSame ? before.repeats + 1 : 1
    this.#streaks.set(tool, { ...before, failures, repeats, ...(isSame ? {} : { signature: first }) })
    if (repeats === this.#limits.withhold) this.#withheld = new Set([...this.#withheld, toolOf(tool)])
  }

  #worst(stop: number) {
    for (const [tool, { repeats }] of this.#streaks) if (repeats >= stop) return { tool: toolOf(tool), repeats }
    return undefined
  }
}

/**
 * The bucket for refusals of a tool. The tool has not failed, but a model may insist. No tool name has a blank, so the buckets never
 * collide.
 */
const denials = (tool: string): string => `${tool} denied`

const toolOf = (bucket: string): string => bucket.replace(/ denied$/, "")

/** The signatures of the tools that failed in a batch and had no success in it. */
const byTool = (failing: ReadonlyArray<CallOutcome>, batch: ReadonlyArray<CallOutcome>) => {
  const succeeded = new Set(batch.filter((outcome) => !outcome.isError).map(({ tool }) => tool))
  const found = new Map<string, Array<string>>()
  for (const { isDenied = false, signature, tool } of failing) {
    if (succeeded.has(tool)) continue
    const bucket = isDenied ? denials(tool) : tool
    const signatures = found.get(bucket) ?? []
    if (signature !== undefined) signatures.push(signature)
    found.set(bucket, signatures)
  }
  return found
}

/** The signature of a failure: its tag and its words, without values that change. */
export const signatureOf = (tag: string, message: string): string => `${tag}: ${normalForm(message)}`

/** The words of a message without numbers, quotations, assigned values and call ids. */
export const normalForm = (text: string): string =>
  text
    .slice(0, 500)
    .toLowerCase()
    .replaceAll(/\(call [^()]*\)/g, "")
    .replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "…")
    .replaceAll(/=[^\s,;)]+/g, "=…")
    // drops words with a digit, and words that begin like ids: but `not_found` and `not_allowed` stay two failures
    .replaceAll(/\w(?:[\w-]*\w)?/g, (word) => (/\d/.test(word) ? "#" : word.replaceAll(ids, "#")))
    .replaceAll(/\s+/g, " ")
    .trim()

/** The signature of a failure and of what the model was told about it. Neither has more than one line. */
export const signatureWith = (failure: string, message: string): string => `${failure}\n${message}`

const ids = /\b(?:req|msg|evt|txn|sess|resp|usr|acct)_[a-z]{4,}\b/g
