/** Policies as data, the verdicts that the library makes of them, and a reference for what they mean. */
import { type Backoff, Recovery } from "@kintsugi/core"
import { Effect } from "effect"
import fc from "fast-check"
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
} from "./support.ts"
import * as Waits from "./waits.ts"

export type Policy =
  | { readonly kind: "retry"; readonly options: Options }
  /** Answers after a while; or its handler fails or dies. */
  | { readonly kind: "respondWith"; readonly after: number; readonly handler: "succeeds" | "fails" | "dies" }
  | { readonly kind: "rethrow" }
  | { readonly kind: "ladder"; readonly rungs: ReadonlyArray<Policy> }
  /** The first up to that attempt, then the second. */
  | { readonly kind: "when"; readonly until: number; readonly first: Policy; readonly second: Policy }

/** `Backoff.Options` in milliseconds. */
export type Options = Backoff.Count & {
  readonly initialBackoff?: number
  readonly factor?: number
  readonly maxBackoff?: number
  readonly jitter?: "none" | "full" | "equal" | number
  readonly maxHint?: number
}

export type Row = Tag | "orElse"
export type Table = { readonly [K in Row]?: Policy }

/** What a failing handler fails with. */
export interface HandlerError {
  readonly _tag: "HandlerError"
}

export type Verdict = Recovery.Verdict<Failure, string, HandlerError, never, "exhausted" | "rethrow", "repeats">
export type Verdicts = { readonly [K in Row]?: Verdict }

export const verdictOf = (policy: Policy): Verdict => {
  switch (policy.kind) {
    case "retry":
      return Recovery.retry(policy.options)
    case "rethrow":
      return Recovery.rethrow
    case "respondWith":
      return policy.handler === "succeeds" && policy.after === 0
        ? Recovery.respondWith("answer")
        : Recovery.respondWith(() => Effect.delay(handlers[policy.handler], policy.after))
    case "ladder":
      return ladderOf(policy.rungs.map(verdictOf))
    case "when":
      // a new verdict at each failure: counts belong to the row, not to the value
      return Recovery.when((_: Failure, { attempt }) =>
        verdictOf(attempt <= policy.until ? policy.first : policy.second)
      )
  }
}

/** A ladder of one to four rungs. */
export const ladderOf = ([first = Recovery.rethrow, second, third, fourth]: ReadonlyArray<Verdict>): Verdict => {
  if (second === undefined) return Recovery.ladder(first)
  if (third === undefined) return Recovery.ladder(first, second)
  return fourth === undefined ? Recovery.ladder(first, second, third) : Recovery.ladder(first, second, third, fourth)
}

const handlers: { readonly [K in "succeeds" | "fails" | "dies"]: Effect.Effect<string, HandlerError> } = {
  succeeds: Effect.succeed("answer"),
  fails: Effect.fail({ _tag: "HandlerError" }),
  dies: Effect.die("defect of a handler")
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

export const retriesOf = (count: Backoff.Count): number => count.retries ?? count.maxAttempts - 1

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
      return ({ hint }) => (++used > retriesOf(policy.options) ? "gave up" : waitOf(policy.options, used, draw, hint))
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
      const [first, second] = [asker(policy.first, draw), asker(policy.second, draw)]
      return (failure, attempt) => (attempt <= policy.until ? first : second)(failure, attempt)
    }
  }
}

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

export const count: fc.Arbitrary<Backoff.Count> = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.boolean())
  .map(([retries, extra]) => (extra ? { retries } : { maxAttempts: retries + 1 }))

export const delays: fc.Arbitrary<Omit<Options, "retries" | "maxAttempts">> = fc
  .record(
    {
      initialBackoff: fc.oneof(fc.constantFrom(0, 1, 500), fc.integer({ min: 0, max: 5_000 })),
      factor: fc.constantFrom(1, 1.5, 2, 3),
      cap: fc.integer({ min: 0, max: 20_000 }),
      maxHint: fc.integer({ min: 0, max: 120_000 })
    },
    { requiredKeys: [] }
  )
  .map(({ cap, ...some }) => ({
    ...some,
    ...(cap === undefined ? {} : { maxBackoff: (some.initialBackoff ?? 0) + cap })
  }))

/** Options without jitter. */
export const options: fc.Arbitrary<Options> = fc
  .tuple(count, delays)
  .map(([count, delays]) => ({ ...count, ...delays }))

export const jitter: fc.Arbitrary<"full" | "equal" | number> = fc.oneof(
  fc.constantFrom("full" as const, "equal" as const),
  fc.double({ min: 0, max: 1, noNaN: true })
)

export const jittered: fc.Arbitrary<Options> = fc
  .tuple(options, jitter)
  .map(([options, jitter]) => ({ ...options, jitter }))

/** What `Random` draws. */
export const draw: fc.Arbitrary<number> = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

export const retry: fc.Arbitrary<Policy> = fc
  .oneof(options, jittered)
  .map((options) => ({ kind: "retry", options }) as const)

export const respondWith: fc.Arbitrary<Policy> = fc.record({
  kind: fc.constant("respondWith" as const),
  after: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000 })),
  handler: fc.constantFrom("succeeds" as const, "succeeds" as const, "fails" as const, "dies" as const)
})

/** A verdict that ends the call. */
export const final: fc.Arbitrary<Policy> = fc.oneof(respondWith, fc.constant<Policy>({ kind: "rethrow" }))

const rung: fc.Arbitrary<Policy> = fc.oneof({ weight: 3, arbitrary: retry }, { weight: 1, arbitrary: final })

const laddersOf = (rungs: fc.Arbitrary<Policy>): fc.Arbitrary<Policy> =>
  fc.array(rungs, { minLength: 1, maxLength: 4 }).map((rungs) => ({ kind: "ladder", rungs }) as const)

export const ladder: fc.Arbitrary<Policy> = laddersOf(fc.oneof({ weight: 4, arbitrary: rung }, laddersOf(rung)))

export const when: fc.Arbitrary<Policy> = fc.record({
  kind: fc.constant("when" as const),
  until: fc.integer({ min: 0, max: 6 }),
  first: fc.oneof(retry, ladder),
  // a row keeps one count: two branches that count would share it
  second: final
})

export const policy: fc.Arbitrary<Policy> = fc.oneof(
  { weight: 4, arbitrary: retry },
  { weight: 2, arbitrary: ladder },
  { weight: 1, arbitrary: when },
  { weight: 1, arbitrary: final },
  { weight: 1, arbitrary: laddersOf(fc.oneof(rung, when)) }
)

/** A table over some of the tags, with or without `orElse`, in any order of its rows. */
export const table: fc.Arbitrary<Table> = fc
  .uniqueArray(fc.tuple(fc.constantFrom<Row>(...tags, "orElse"), policy), {
    selector: ([row]) => row,
    maxLength: 5
  })
  .map((rows): Table => Object.fromEntries(rows))
