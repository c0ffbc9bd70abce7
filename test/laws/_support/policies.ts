/** The verdicts that the library makes of policies as data, and a reference for what they mean. */
import { Recovery } from "@kintsugi/core"
import { PolicyData } from "@kintsugi/core/testing"
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import fc from "fast-check"
import * as Arbitraries from "../../../packages/core/src/testing/Arbitraries.ts"
import {
  failed,
  type Failure,
  type Guard,
  resourcesOf,
  type Script,
  stepOf,
  type Tag,
  tags,
  type Trace
} from "../../_support/laws.ts"
import * as Waits from "../../_support/waits.ts"
import type { Count } from "../../../packages/core/src/recovery/Node.ts"

export type Policy = PolicyData.PolicyData
export type Options = Extract<Policy, { readonly kind: "retry" }>["options"]
export type Verdict = ReturnType<typeof PolicyData.verdictOf>
export interface HandlerError {
  readonly _tag: "HandlerError"
}

export type Row = Tag | "orElse"
export type Table = PolicyData.TableData<Tag>
export type Verdicts = { readonly [K in Row]?: Verdict }

/** A ladder of one to four rungs; a ladder without rungs rethrows the failure. */
export const ladderOf = ([first = Recovery.rethrow, second, third, fourth]: ReadonlyArray<Verdict>): Verdict => {
  if (second === undefined) return Recovery.ladder(first)
  if (third === undefined) return Recovery.ladder(first, second)
  return fourth === undefined ? Recovery.ladder(first, second, third) : Recovery.ladder(first, second, third, fourth)
}

/** As that of the kit, but a `when` makes a new verdict at each failure: its options and ladders count by what they say. */
export const verdictOf = (policy: Policy): Verdict => {
  if (policy.kind === "ladder") return ladderOf(policy.rungs.map(verdictOf))
  if (policy.kind !== "when") return PolicyData.verdictOf(policy)
  return Recovery.when((_: Failure, { attempt }) => verdictOf(attempt <= policy.until ? policy.first : policy.second))
}

export const verdictsOf = (table: Table): Verdicts =>
  Object.fromEntries(Object.entries(table).map(([row, policy]) => [row, verdictOf(policy)]))

export const guardedBy = (verdicts: Verdicts): Guard<HandlerError> => Recovery.onError<Failure, Verdicts>(verdicts)

export const guarded = (table: Table): Guard<HandlerError> => guardedBy(verdictsOf(table))

/** A guard whose jitter draws the same number for ever. */
export const drawing =
  (draw: number, guard: Guard<HandlerError>): Guard<HandlerError> =>
  (scripted) =>
    Waits.drawing(draw)(guard(scripted))

export const retriesOf = (count: Count): number => count.retries ?? count.maxAttempts - 1

/** How often a policy may run something again. */
export const repeatsOf = (policy: Policy): number => {
  switch (policy.kind) {
    case "retry":
      return retriesOf(policy.options)
    case "ladder":
      return policy.rungs.reduce((sum, rung) => sum + repeatsOf(rung), 0)
    case "when":
      return repeatsOf(policy.first) + repeatsOf(policy.second)
    default:
      return 0
  }
}

// --- the reference: what policies mean, written without the library and without Effect

type Asked = (failure: Step, attempt: number) => number | "gave up" | { readonly exit: string; readonly after: number }
interface Step {
  readonly tag: Tag
  readonly hint?: number
}

/** The trace of a script under a table, when every draw is `draw`. */
export const reference = (table: Table, script: Script, draw = 0): Trace => {
  const rows = new Map(Object.entries(table).map(([row, policy]) => [row, asker(policy, draw)]))
  const attempts: Array<Trace["attempts"][number]> = []
  for (let attempt = 1, now = 0; ; attempt++) {
    const step = stepOf(script, attempt)
    attempts.push({ start: now, attempt, outcome: step.does })
    now += step.takes
    const resources = resourcesOf(attempt)
    if (step.does === "never") return { attempts, end: undefined, exit: "running", resources }
    if (step.does !== "fail") return { attempts, end: now, exit: endings(step.does, attempt, step), resources }
    const answer = (rows.get(step.tag) ?? rows.get("orElse"))?.(step, attempt) ?? "gave up"
    if (answer === "gave up") return { attempts, end: now, exit: failed(step.tag, attempt), resources }
    if (typeof answer === "object") return { attempts, end: now + answer.after, exit: answer.exit, resources }
    now += answer
  }
}

const endings = (does: string, attempt: number, step: object): string => {
  switch (does) {
    case "die":
      return `died of defect of attempt ${attempt}`
    case "fail and die":
      return `died of ${failed("tag" in step ? String(step.tag) : "", attempt)} and died of defect of attempt ${attempt}`
    case "interrupt":
    case "fail and interrupt":
      return "interrupted"
    default:
      return `success ${"value" in step ? String(step.value) : ""}`
  }
}

const asker = (policy: Policy, draw: number): Asked => {
  switch (policy.kind) {
    case "rethrow":
      return (failure, attempt) => ({ exit: failed(failure.tag, attempt), after: 0 })
    case "respondWith":
      return () => ({ exit: answers[policy.handler], after: policy.after })
    case "retry": {
      let used = 0
      return (failure) => retryOf(policy.options, ++used, draw, failure)
    }
    case "ladder": {
      const rungs = policy.rungs.map((rung) => asker(rung, draw))
      return (failure, attempt) => {
        for (; rungs.length > 0; rungs.shift()) {
          const answer = rungs[0]!(failure, attempt)
          if (answer !== "gave up") return answer
        }
        return "gave up"
      }
    }
    case "when": {
      const parts = new Map<string, Asked>()
      let asked = 0
      return (failure, attempt) => {
        asked++
        const chosen = attempt <= policy.until ? policy.first : policy.second
        if (chosen.kind === "retry") return retryOf(chosen.options, asked, draw, failure)
        const name = JSON.stringify(chosen)
        const part = parts.get(name) ?? asker(chosen, draw)
        parts.set(name, part)
        return part(failure, attempt)
      }
    }
  }
}

const retryOf = (options: Options, k: number, draw: number, { hint }: Step): number | "gave up" =>
  k > retriesOf(options) ? "gave up" : waitOf(options, k, draw, hint)

const answers = {
  succeeds: "success answer",
  fails: "failure HandlerError of its own",
  dies: "died of defect of a handler"
}

/** The wait before retry `k`, counted from 1. */
export const waitOf = (options: Options, k: number, draw: number, hint?: number): number | "gave up" => {
  const { factor = 2, initialBackoff = 0, jitter = "none", maxBackoff = Infinity, maxHint = 60_000 } = options
  const asked = hint === undefined ? 0 : Math.max(1, hint)
  if (asked > maxHint) return "gave up"
  const grown = Math.min(initialBackoff * factor ** (k - 1), maxBackoff)
  const share =
    typeof jitter === "number" ? 1 - jitter + 2 * jitter * draw : { none: 1, full: draw, equal: (1 + draw) / 2 }[jitter]
  return nanos(Math.max(Math.min(grown * share, maxBackoff), asked))
}

/** Clocks and durations know nanoseconds, no less. */
export const nanos = (millis: number): number => (Number.isInteger(millis) ? millis : Math.round(millis * 1e6) / 1e6)

// --- generators

/** What `Random` draws. */
export const draw: fc.Arbitrary<number> = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

export const count: fc.Arbitrary<Count> = fromEffect(Arbitraries.count)

/** Waits that grow, without a count and without jitter. */
export const delays = fromEffect(Arbitraries.delays)

export const options: fc.Arbitrary<Options> = fromEffect(Arbitraries.options)

/** Options of at most three retries: retries of layers multiply. */
export const fewRetries = options.map(({ maxAttempts = 1, retries = maxAttempts - 1, ...rest }) => ({
  ...rest,
  retries: Math.min(retries, 3)
}))

export const jitter = fromEffect(Arbitraries.jitter)

export const jittered: fc.Arbitrary<Options> = fromEffect(Arbitraries.jittered)

export const retry: fc.Arbitrary<Policy> = fromEffect(Arbitraries.retry)

/** A verdict that ends the call. */
export const final: fc.Arbitrary<Policy> = fromEffect(Arbitraries.final)

/** A choice of two policies, both of which may count: `verdictOf` makes their verdicts anew at each failure. */
export const when: fc.Arbitrary<Policy> = fromEffect(Arbitraries.when)

export const policy: fc.Arbitrary<Policy> = fromEffect(Arbitraries.policy)

export const table: fc.Arbitrary<Table> = fromEffect(Arbitraries.table(tags))
