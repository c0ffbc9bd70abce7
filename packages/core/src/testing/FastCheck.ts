/**
 * Arbitraries of fast-check for scripts of failures, policies, and all that `Arbitraries` has; and `check`, which tells of a failing
 * case all that there is to know. Needs the package `fast-check`, an optional peer.
 */
import * as EffectArbitrary from "effect/Arbitrary"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import fc from "fast-check"
import type * as Backoff from "../recovery/Backoff.ts"
import * as Explanation from "../recovery/Explanation.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { FailureScript, Step } from "./FailureScript.ts"
import type { Options, PolicyData, TableData } from "./PolicyData.ts"
import * as Trace from "./Trace.ts"

// --- checking

/** As `trace` and `play`, and remembered for the report of a case that fails. */
export interface Tools {
  readonly trace: typeof Trace.trace
  readonly play: typeof Trace.play
}

/** How many cases are tried, and which. */
export interface CheckOptions {
  /** How many cases; 1,000 by default. */
  readonly runs?: number
  /** Where they start; a random number by default. A failing case says its own. */
  readonly seed?: number
}

/** A case that fails, shrunk. */
export class CounterexampleError extends Data.TaggedError("CounterexampleError")<{
  readonly message: string
  readonly counterexample: unknown
  readonly seed: number
  /** The failure, or the defect, of the property. */
  readonly cause: unknown
}> {}

/**
 * Checks a property on many cases. A failing one is told with its seed, the case itself, and every trace that was made of it: with
 * what the policy is explained to do, and the script, where the case does not say it.
 */
export const check = <T, E, R>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T, tools: Tools) => Effect.Effect<unknown, E, R>,
  { runs = 1_000, seed }: CheckOptions = {}
): Effect.Effect<void, CounterexampleError, R> =>
  Effect.contextWith((context: Context.Context<R>) => {
    let failing: { readonly error: unknown; readonly traces: ReadonlyArray<Traced> } | undefined
    const holds = fc.asyncProperty(arbitrary, (value) => {
      const traces: Array<Traced> = []
      const remember = (script: FailureScript, policy?: Trace.Policy) => (trace: Trace.Trace) =>
        Effect.sync(() => traces.push({ trace, script, ...(policy === undefined ? {} : { policy }) }))
      const tools: Tools = {
        trace: (policy, script) => Effect.tap(Trace.trace(policy, script), remember(script, policy)),
        play: (script, ...others) => Effect.tap(Trace.play(script, ...others), remember(script))
      }
      const checked = Effect.suspend(() => property(value, tools))
      return Effect.runPromiseWith(context)(Effect.asVoid(checked)).catch((error: unknown) => {
        failing = { error, traces }
        throw error
      })
    })
    const checking = Effect.promise(async () =>
      fc.check(holds, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
    )
    return Effect.flatMap(checking, (result) => {
      if (!result.failed) return Effect.void
      const counterexample = result.counterexample?.[0]
      const said = messageOf(failing?.error ?? result.errorInstance)
      const drawn = show(counterexample)
      const message = [
        `seed ${result.seed}, case ${result.numRuns}, shrunk ${result.numShrinks} times`,
        `case ${drawn}`,
        said,
        ...(failing?.traces ?? []).flatMap((traced) => tell(traced, [drawn, said]))
      ].join("\n")
      return Effect.fail(new CounterexampleError({ message, counterexample, seed: result.seed, cause: failing?.error }))
    })
  })

/** A trace, and what it is of. */
interface Traced {
  readonly trace: Trace.Trace
  readonly script: FailureScript
  readonly policy?: Trace.Policy
}

/** What is not said yet. */
const tell = ({ policy, script, trace }: Traced, said: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isNew = (text: string) => !said.some((one) => one.includes(text))
  const explained = policy === undefined ? [] : [explainedOf(policy)]
  const played = [fc.stringify(script)]
  const seen = [Trace.format(trace)]
  return [
    ...explained.filter(isNew).map((text) => `policy\n${text}\n`),
    ...played.filter(isNew).map((text) => `script ${text}`),
    ...seen.filter(isNew).map((text) => `trace\n${text}`)
  ]
}

/** Whatever else is wrong with it, the failure is told. */
const explainedOf = (policy: Trace.Policy): string =>
  Result.match(
    Result.try(() => Explanation.format(Recovery.explain(policy))),
    { onFailure: (error) => `it cannot be explained: ${messageOf(error)}`, onSuccess: (text) => text }
  )

const messageOf = (error: unknown): string => {
  if (typeof error === "string") return error
  if (!(error instanceof Error)) return show(error)
  // an error of ours says by its tag what happened; what a trace exceeds says it all
  return Predicate.hasProperty(error, "_tag") && !(error instanceof Trace.ExceededError) ? String(error) : error.message
}

const show = (value: unknown): string => fc.stringify(legible(value, []))

/** Tagged errors as plain objects, for fast-check shows of an error its message alone. */
const legible = (value: unknown, above: ReadonlyArray<unknown>): unknown => {
  // fast-check stops at a circle by itself
  if (above.includes(value)) return value
  const within = [...above, value]
  if (Array.isArray(value)) return value.map((one) => legible(one, within))
  if (!Predicate.isObject(value)) return value
  const isTagged = value instanceof Error && Predicate.hasProperty(value, "_tag")
  if (!isTagged && Object.getPrototypeOf(value) !== Object.prototype) return value
  const fields = Object.entries(value).map(([name, field]) => [name, legible(field, within)])
  return Object.fromEntries(isTagged ? [["_tag", value._tag], ...fields] : fields)
}

/**
 * An arbitrary of Effect, or one that a schema has, as one of fast-check. A case shrinks by its size, not by its parts.
 */
export const fromEffect = <A>(arbitrary: EffectArbitrary.Arbitrary<A>): fc.Arbitrary<A> =>
  fc.record({ size: fc.nat({ max: 30 }), seed: fc.nat() }).map(({ seed, size }) => {
    const [value] = Effect.runSync(EffectArbitrary.sampleEffect(arbitrary, { count: 1, size, seed }))
    // it was asked for one
    return value as A
  })

// --- scripts

/** Milliseconds that an attempt takes, from none to 20 seconds. */
export const takes: fc.Arbitrary<number> = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 }))

/** What a server asks for, in milliseconds: absent, none, small, or beyond the default `maxHint`. Shrinks to absent. */
export const hint: fc.Arbitrary<number | undefined> = fc.oneof(
  { withCrossShrink: true },
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 5_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60_001, max: 10 ** 9 }) }
)

/** A failing step, with one of these tags. */
export const failing = <const Tag extends string>(
  tags: ReadonlyArray<Tag>,
  hints: fc.Arbitrary<number | undefined> = hint
): fc.Arbitrary<Step<Tag> & { readonly does: "fail" }> =>
  fc
    .record({ takes, tag: fc.constantFrom(...tags), hint: hints })
    .map(({ hint, ...step }) => ({ does: "fail", ...step, ...(hint === undefined ? {} : { hint }) }))

/** A step that succeeds. */
export const succeeding: fc.Arbitrary<Step<never>> = takes.map((takes) => ({ does: "succeed", takes, value: "fine" }))

/** A defect or an interruption. */
export const ending: fc.Arbitrary<Step<never>> = fc.record({
  takes,
  does: fc.constantFrom("die" as const, "interrupt" as const)
})

/** A step that no policy may handle: `ending`, or one of these beside a failure. */
export const deadly = <const Tag extends string>(tags: ReadonlyArray<Tag>): fc.Arbitrary<Step<Tag>> =>
  fc.oneof<Array<fc.Arbitrary<Step<Tag>>>>(
    ending,
    fc.record({
      takes,
      does: fc.constantFrom("fail and die" as const, "fail and interrupt" as const),
      tag: fc.constantFrom(...tags)
    })
  )

const never: fc.Arbitrary<Step<never>> = takes.map((takes) => ({ does: "never", takes }))

/** A script of failures with these tags, mostly: `ends` is what else may come, by default all that no policy may handle. */
export const script = <const Tag extends string>(
  tags: ReadonlyArray<Tag>,
  ends: fc.Arbitrary<Step<Tag>> = deadly(tags)
): fc.Arbitrary<FailureScript<Tag>> =>
  fc.record({
    steps: fc.array(
      fc.oneof<Array<fc.WeightedArbitrary<Step<Tag>>>>(
        { weight: 12, arbitrary: failing(tags) },
        { weight: 1, arbitrary: succeeding },
        { weight: 1, arbitrary: ends },
        { weight: 1, arbitrary: never }
      ),
      { maxLength: 12 }
    ),
    rest: fc.oneof<Array<fc.Arbitrary<Step<Tag>>>>(succeeding, failing(tags), ends)
  })

/** A script in which every attempt fails, with one of these tags. */
export const allFailing = <const Tag extends string>(
  tags: ReadonlyArray<Tag>,
  hints?: fc.Arbitrary<number | undefined>
): fc.Arbitrary<FailureScript<Tag>> =>
  fc.record({ steps: fc.array(failing(tags, hints), { maxLength: 12 }), rest: failing(tags, hints) })

// --- policies

/** Up to 5 retries, said as `retries` or as `maxAttempts`. */
export const count: fc.Arbitrary<Backoff.Count> = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.boolean())
  .map(([retries, extra]) => (extra ? { retries } : { maxAttempts: retries + 1 }))

/** Waits that grow, with and without a cap and a limit for hints; no jitter. */
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

/** Options of a retry, without jitter. */
export const options: fc.Arbitrary<Options> = fc
  .tuple(count, delays)
  .map(([count, delays]) => ({ ...count, ...delays }))

/** Every kind of jitter. */
export const jitter: fc.Arbitrary<"full" | "equal" | number> = fc.oneof(
  fc.constantFrom("full" as const, "equal" as const),
  fc.double({ min: 0, max: 1, noNaN: true })
)

/** Options of a retry, with jitter. */
export const jittered: fc.Arbitrary<Options> = fc
  .tuple(options, jitter)
  .map(([options, jitter]) => ({ ...options, jitter }))

/** A retry, with or without jitter. */
export const retry: fc.Arbitrary<PolicyData> = fc
  .oneof(options, jittered)
  .map((options) => ({ kind: "retry", options }) as const)

/** A handler that answers at once or late, fails, or dies. */
export const respondWith: fc.Arbitrary<PolicyData> = fc.record({
  kind: fc.constant("respondWith" as const),
  after: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000 })),
  handler: fc.constantFrom("succeeds" as const, "succeeds" as const, "fails" as const, "dies" as const)
})

/** A verdict that ends the call. */
export const final: fc.Arbitrary<PolicyData> = fc.oneof(respondWith, fc.constant<PolicyData>({ kind: "rethrow" }))

const rung: fc.Arbitrary<PolicyData> = fc.oneof({ weight: 3, arbitrary: retry }, { weight: 1, arbitrary: final })

/** A ladder of one to four of these. */
export const laddersOf = (rungs: fc.Arbitrary<PolicyData>): fc.Arbitrary<PolicyData> =>
  fc.array(rungs, { minLength: 1, maxLength: 4 }).map((rungs) => ({ kind: "ladder", rungs }) as const)

/** A ladder, which may hold ladders. */
export const ladder: fc.Arbitrary<PolicyData> = laddersOf(fc.oneof({ weight: 4, arbitrary: rung }, laddersOf(rung)))

/** A choice of two policies by the number of the attempt. */
export const when: fc.Arbitrary<PolicyData> = fc.record({
  kind: fc.constant("when" as const),
  until: fc.integer({ min: 0, max: 6 }),
  first: fc.oneof(retry, ladder),
  // a row keeps one count: two branches that count would share it
  second: final
})

/** Any policy. */
export const policy: fc.Arbitrary<PolicyData> = fc.oneof(
  { weight: 4, arbitrary: retry },
  { weight: 2, arbitrary: ladder },
  { weight: 1, arbitrary: when },
  { weight: 1, arbitrary: final },
  { weight: 1, arbitrary: laddersOf(fc.oneof(rung, when)) }
)

/** A table over some of these tags, with or without `orElse`, in any order of its rows. */
export const table = <const Tag extends string>(tags: ReadonlyArray<Tag>): fc.Arbitrary<TableData<Tag>> =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom<Tag | "orElse">(...tags, "orElse"), policy), {
      selector: ([row]) => row,
      maxLength: tags.length + 1
    })
    // the keys are those
    .map((rows) => Object.fromEntries(rows) as TableData<Tag>)
