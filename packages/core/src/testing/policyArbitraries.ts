/** Arbitraries of Effect for scripts of failures and policies. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { FailureScript } from "./FailureScript.ts"
import type { FailureStep } from "./failures.ts"
import type { PolicyData, TableData } from "./PolicyData.ts"
import type { Count } from "../recovery/Node.ts"

type RetryOptions = Extract<PolicyData, { readonly kind: "retry" }>["options"]

// --- helpers that `effect/Arbitrary` does not have

/**
 * Draws a whole number, both bounds included.
 *
 * @internal
 */
export const integer = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/** Draws an index. It shrinks to 0 in one step, because a check tries only a few smaller cases. */
const indexWithin = (length: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: length - 1 })), {
    shrink: (index) => (index === 0 ? [] : [0])
  })

/**
 * Draws one of these values, each as often as it is listed. It shrinks to the first one.
 *
 * @internal
 */
export const constantFrom = <const A>(...values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  // the index is one of `values`, so the value is never `undefined`
  Arbitrary.map(indexWithin(values.length), (index) => values[index] as A)

/**
 * Draws from one of these arbitraries, by weight. It shrinks to the first one.
 *
 * @internal
 */
export const oneOf = <A>(...weighted: ReadonlyArray<readonly [weight: number, member: Arbitrary.Arbitrary<A>]>) => {
  const members = weighted.flatMap(([weight, member]) => Array.from({ length: weight }, () => member))
  const first = weighted[0]?.[0] ?? 0
  const index = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: members.length - 1 })), {
    shrink: (index) => (index < first ? [] : [0])
  })
  return Arbitrary.flatMap(index, (index) => members[index]!)
}

/**
 * Draws `undefined`, or in one of `weight` + 1 cases from `member`.
 *
 * @internal
 */
export const orAbsent = <A>(weight: number, member: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<A | undefined> =>
  oneOf<A | undefined>([weight, Arbitrary.Constant(undefined)], [1, member])

/**
 * Removes keys with the value `undefined`.
 *
 * @internal
 */
export const given = <A extends object>(fields: A): { readonly [K in keyof A]?: Exclude<A[K], undefined> } =>
  // the remaining fields have values of their own types
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof A]?: Exclude<A[K], undefined>
  }

/** A seed for `Random.withSeed`. A property with jitter draws the same random numbers for the same case. The seed does not shrink. */
export const seed: Arbitrary.Arbitrary<number> = Arbitrary.schema(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0x7fff_ffff })),
  { shrink: () => [] }
)

// --- scripts

/**
 * Draws the milliseconds that an attempt takes: from 0 to 20,000.
 *
 * @internal
 */
export const takes: Arbitrary.Arbitrary<number> = oneOf([1, Arbitrary.Constant(0)], [1, integer(0, 20_000)])

/**
 * Draws the hint of a server in milliseconds: absent, 0, small, or above the default `maxHint`. It shrinks to absent.
 *
 * @internal
 */
export const hint: Arbitrary.Arbitrary<number | undefined> = oneOf<number | undefined>(
  [3, Arbitrary.Constant(undefined)],
  [1, Arbitrary.Constant(0)],
  [2, integer(1, 5_000)],
  [1, integer(60_001, 10 ** 9)]
)

/**
 * Draws a failing step with one of these tags.
 *
 * @internal
 */
export const failing = <const Tag extends string>(
  tags: ReadonlyArray<Tag>,
  hints: Arbitrary.Arbitrary<number | undefined> = hint
): Arbitrary.Arbitrary<FailureStep<Tag> & { readonly does: "fail" }> =>
  Arbitrary.map(Arbitrary.all({ takes, tag: constantFrom(...tags), hint: hints }), ({ hint, tag, takes }) => ({
    does: "fail",
    takes,
    tag,
    ...(hint === undefined ? {} : { hint })
  }))

/** Draws a step that succeeds. */
const succeeding: Arbitrary.Arbitrary<FailureStep<never>> = Arbitrary.map(takes, (takes) => ({
  does: "succeed",
  takes,
  value: "fine"
}))

/**
 * Draws a step that ends with a defect or an interruption.
 *
 * @internal
 */
export const ending: Arbitrary.Arbitrary<FailureStep<never>> = Arbitrary.map(
  Arbitrary.all({ takes, does: constantFrom("die", "interrupt") }),
  ({ does, takes }) => ({ does, takes })
)

/**
 * Draws a step that no policy may handle: a defect or an interruption, alone or beside a failure.
 *
 * @internal
 */
export const deadly = <const Tag extends string>(tags: ReadonlyArray<Tag>): Arbitrary.Arbitrary<FailureStep<Tag>> =>
  oneOf<FailureStep<Tag>>(
    [1, ending],
    [
      1,
      Arbitrary.map(
        Arbitrary.all({ takes, does: constantFrom("fail and die", "fail and interrupt"), tag: constantFrom(...tags) }),
        ({ does, tag, takes }) => ({ does, takes, tag })
      )
    ]
  )

const never: Arbitrary.Arbitrary<FailureStep<never>> = Arbitrary.map(takes, (takes) => ({ does: "never", takes }))

const scriptOf = <Tag extends string>(
  step: Arbitrary.Arbitrary<FailureStep<Tag>>,
  rest: Arbitrary.Arbitrary<FailureStep<Tag>>
): Arbitrary.Arbitrary<FailureScript<Tag>> =>
  Arbitrary.map(Arbitrary.all({ steps: Arbitrary.array(step, { maxLength: 12 }), rest }), ({ rest, steps }) => ({
    steps,
    rest
  }))

/**
 * A script of failures, successes, and attempts that never end. The failures have these tags. `ends` are further steps; by default the
 * defects and interruptions that no policy may handle, alone and beside a failure.
 */
export const script = <const Tag extends string>(
  tags: ReadonlyArray<Tag>,
  ends: Arbitrary.Arbitrary<FailureStep<Tag>> = deadly(tags)
): Arbitrary.Arbitrary<FailureScript<Tag>> =>
  scriptOf(
    oneOf<FailureStep<Tag>>([12, failing(tags)], [1, succeeding], [1, ends], [1, never]),
    oneOf<FailureStep<Tag>>([1, succeeding], [1, failing(tags)], [1, ends])
  )

/** A script in which every attempt fails, with one of these tags. `hints` are the hints of the server, in milliseconds. */
export const allFailing = <const Tag extends string>(
  tags: ReadonlyArray<Tag>,
  hints?: Arbitrary.Arbitrary<number | undefined>
): Arbitrary.Arbitrary<FailureScript<Tag>> => scriptOf(failing(tags, hints), failing(tags, hints))

// --- policies

/**
 * Draws the number of retries, up to 5, as `retries` or as `maxAttempts`.
 *
 * @internal
 */
export const count: Arbitrary.Arbitrary<Count> = Arbitrary.map(
  Arbitrary.all({ retries: integer(0, 5), isExtra: constantFrom(true, false) }),
  ({ isExtra, retries }) => (isExtra ? { retries } : { maxAttempts: retries + 1 })
)

/**
 * Draws waits that grow, with and without a cap and a limit for hints, and without jitter.
 *
 * @internal
 */
export const delays: Arbitrary.Arbitrary<Omit<RetryOptions, "retries" | "maxAttempts">> = Arbitrary.map(
  Arbitrary.all({
    initialBackoff: orAbsent(1, oneOf([1, constantFrom(0, 1, 500)], [1, integer(0, 5_000)])),
    factor: orAbsent(1, constantFrom(1, 1.5, 2, 3)),
    cap: orAbsent(1, integer(0, 20_000)),
    maxHint: orAbsent(1, integer(0, 120_000))
  }),
  ({ cap, ...some }) => ({
    ...given(some),
    ...(cap === undefined ? {} : { maxBackoff: (some.initialBackoff ?? 0) + cap })
  })
)

/** Options of `Recovery.retry`, without jitter. */
export const options: Arbitrary.Arbitrary<RetryOptions> = Arbitrary.map(
  Arbitrary.all({ count, delays }),
  ({ count, delays }) => ({ ...count, ...delays })
)

/**
 * Draws a kind of jitter.
 *
 * @internal
 */
export const jitter: Arbitrary.Arbitrary<"full" | "equal" | number> = oneOf<"full" | "equal" | number>(
  [1, constantFrom("full", "equal")],
  [1, Arbitrary.schema(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))]
)

/**
 * Draws options of `Recovery.retry` with jitter.
 *
 * @internal
 */
export const jittered: Arbitrary.Arbitrary<RetryOptions> = Arbitrary.map(
  Arbitrary.all({ options, jitter }),
  ({ jitter, options }) => ({ ...options, jitter })
)

/**
 * Draws a retry, with or without jitter.
 *
 * @internal
 */
export const retry: Arbitrary.Arbitrary<PolicyData> = Arbitrary.map(
  oneOf([1, options], [1, jittered]),
  (options) => ({ kind: "retry", options }) as const
)

/** Draws a handler that answers at once or later, fails, or dies. */
const respondWith: Arbitrary.Arbitrary<PolicyData> = Arbitrary.map(
  Arbitrary.all({
    after: oneOf([1, Arbitrary.Constant(0)], [1, integer(1, 5_000)]),
    handler: constantFrom("succeeds", "succeeds", "fails", "dies")
  }),
  ({ after, handler }) => ({ kind: "respondWith", after, handler }) as const
)

/**
 * Draws a verdict that ends the call.
 *
 * @internal
 */
export const final: Arbitrary.Arbitrary<PolicyData> = oneOf<PolicyData>(
  [1, Arbitrary.Constant({ kind: "rethrow" })],
  [1, respondWith]
)

const rung: Arbitrary.Arbitrary<PolicyData> = oneOf([3, retry], [1, final])

/** Draws a ladder of one to four of these rungs. */
const laddersOf = (rungs: Arbitrary.Arbitrary<PolicyData>): Arbitrary.Arbitrary<PolicyData> =>
  Arbitrary.map(Arbitrary.array(rungs, { minLength: 1, maxLength: 4 }), (rungs) => ({ kind: "ladder", rungs }) as const)

/** Draws a ladder, which may contain ladders. */
const ladder: Arbitrary.Arbitrary<PolicyData> = laddersOf(oneOf([4, rung], [1, laddersOf(rung)]))

/**
 * Draws a choice between two policies by the number of the attempt. Both may count.
 *
 * @internal
 */
export const when: Arbitrary.Arbitrary<PolicyData> = Arbitrary.map(
  Arbitrary.all({
    until: integer(0, 6),
    first: oneOf([1, retry], [1, ladder]),
    second: oneOf([1, retry], [1, ladder], [1, final])
  }),
  ({ first, second, until }) => ({ kind: "when", until, first, second }) as const
)

/** Any policy. */
export const policy: Arbitrary.Arbitrary<PolicyData> = oneOf(
  [4, retry],
  [2, ladder],
  [2, when],
  [1, final],
  [1, laddersOf(oneOf([1, rung], [1, when]))]
)

/** A table over some of these tags. It may have `orElse`; its rows come in any order. */
export const table = <const Tag extends string>(tags: ReadonlyArray<Tag>): Arbitrary.Arbitrary<TableData<Tag>> =>
  Arbitrary.map(
    // Mutant `{}` survives: of several rows with one key the last one stays
    Arbitrary.array(Arbitrary.all([constantFrom<Tag | "orElse">(...tags, "orElse"), policy]), {
      maxLength: tags.length + 1
    }),
    // every key is one of `tags`, or `orElse`
    (rows) => Object.fromEntries(rows) as TableData<Tag>
  )
