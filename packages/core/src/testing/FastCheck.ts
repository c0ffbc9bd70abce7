/**
 * Arbitraries of fast-check for scripts of failures, policies, and all that `Arbitraries` has; and `check`, which reports a
 * failing case in full. Needs the package `fast-check`, an optional peer.
 */
import * as EffectArbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import type * as Message from "../data/Message.ts"
import type * as KintsugiError from "../errors/KintsugiError.ts"
import type * as Backoff from "../recovery/Backoff.ts"
import type * as Tool from "../tool/Tool.ts"
import * as Arbitraries from "./Arbitraries.ts"
import type { FailureScript, Step } from "./FailureScript.ts"
import type { Options, PolicyData, TableData } from "./PolicyData.ts"

export * from "./checking.ts"

// --- arbitraries of Effect

/**
 * The position of a value in the tree of an Effect arbitrary: its seed and size, and the index of the smaller value at each
 * step down.
 */
interface Position {
  readonly seed: number
  readonly size: number
  readonly path: ReadonlyArray<number>
}

/**
 * The value at this position, and the next smaller ones. Effect's runner does not expose its tree of smaller values, so a
 * property leads the runner along the path: it is false on the path, and true beside it.
 */
const lookUp = <A>(
  arbitrary: EffectArbitrary.Arbitrary<A>,
  { path, seed, size }: Position,
  maxShrinks: number
): { readonly value: A; readonly smaller: ReadonlyArray<A> } => {
  const seen: Array<A> = []
  const smaller: Array<A> = []
  let beside = 0
  const lead = (value: A): boolean => {
    if (seen.length > path.length) return smaller.push(value) > 0
    if (seen.length > 0 && beside++ < path[seen.length - 1]!) return true
    beside = 0
    seen.push(value)
    return false
  }
  const result = Effect.runSync(EffectArbitrary.checkEffect(arbitrary, lead, { runs: 1, seed, size, maxShrinks }))
  const value = seen.at(-1)
  if (value === undefined && seen.length === 0) throw new Error(EffectArbitrary.formatCheckFailure(result))
  // it was seen
  return { value: value as A, smaller }
}

/** No value has that many smaller ones on the way to the smallest. */
const allShrinks = 1_000_000

class FromEffect<A> extends fc.Arbitrary<A> {
  readonly arbitrary: EffectArbitrary.Arbitrary<A>
  constructor(arbitrary: EffectArbitrary.Arbitrary<A>) {
    super()
    this.arbitrary = arbitrary
  }
  generate(random: fc.Random): fc.Value<A> {
    const position: Position = { size: random.nextInt(0, 30), seed: random.nextInt(), path: [] }
    return new fc.Value(lookUp(this.arbitrary, position, 0).value, position)
  }
  canShrinkWithoutContext(_value: unknown): _value is A {
    return false
  }
  shrink(_: A, context: unknown): fc.Stream<fc.Value<A>> {
    // made by `generate` or by `shrink`
    const position = context as Position
    const { smaller } = lookUp(this.arbitrary, position, allShrinks)
    const values = smaller.map((value, index) => new fc.Value(value, { ...position, path: [...position.path, index] }))
    return fc.stream(values.values())
  }
}

/** An arbitrary of Effect, or one that a schema has, as one of fast-check. A case shrinks as Effect shrinks it. */
export const fromEffect = <A>(arbitrary: EffectArbitrary.Arbitrary<A>): fc.Arbitrary<A> => new FromEffect(arbitrary)

/** Any conversation: every call in it is settled, and nothing else is promised. */
export const transcript: fc.Arbitrary<Message.Transcript> = fromEffect(Arbitraries.transcript)

/** What a model may say in a call of this tool that fits its schema: as JSON text, or as an object. */
export const toolArguments = (tool: Tool.AnyTool): fc.Arbitrary<Message.ToolCall["arguments"]> =>
  fromEffect(Arbitraries.toolArguments(tool))

/** The JSON text of such a call, cut off somewhere, as by the limit of a reply. */
export const brokenArguments = (tool: Tool.AnyTool): fc.Arbitrary<string> =>
  fromEffect(Arbitraries.brokenArguments(tool))

/** What lies beneath an error: foreign things of all kinds, our own errors, and those around others, three levels down. */
export const cause: fc.Arbitrary<unknown> = fromEffect(Arbitraries.cause)

/** Errors of one class, with fields drawn from its schema; optional ones are there or not. Throws where no class has the tag. */
export const errorOf = <const Tag extends KintsugiError.KintsugiError["_tag"]>(
  tag: Tag
): fc.Arbitrary<Extract<KintsugiError.KintsugiError, { readonly _tag: Tag }>> => fromEffect(Arbitraries.errorOf(tag))

/** Errors of every class of this library. */
export const error: fc.Arbitrary<KintsugiError.KintsugiError> = fromEffect(Arbitraries.error)

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
  second: fc.oneof(retry, ladder, final)
})

/** Any policy. */
export const policy: fc.Arbitrary<PolicyData> = fc.oneof(
  { weight: 4, arbitrary: retry },
  { weight: 2, arbitrary: ladder },
  { weight: 2, arbitrary: when },
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
