/** Checks a property on the cases that fast-check draws, in the fiber of its caller, and reports the smallest case that fails. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import fc from "fast-check"
import { Claims } from "../event/Snapshot.ts"
import type { FailureScript } from "./FailureScript.ts"
import * as Trace from "./Trace.ts"

/** As `Trace.trace` and `Trace.play`; the report of a failing case shows each trace that they made. */
export interface Tools {
  readonly trace: typeof Trace.trace
  readonly play: typeof Trace.play
}

/** How many cases are tried, and which. */
export interface CheckOptions {
  /** How many cases; 1,000 by default. */
  readonly runs?: number
  /**
   * Determines the cases, and what Effect's `Random` draws in each of them. Drawn from `Random` by default. A report of a failing case
   * names its seed.
   */
  readonly seed?: number
  /** Runs one case alone: the case that the report of this seed names by this path. It is not shrunk again. */
  readonly path?: string
}

/** The smallest case found that fails: `T` is the type of the case, `E` of the property's failures. */
export class CounterexampleError<T = unknown, E = unknown> extends Data.TaggedError("CounterexampleError")<{
  /** Seed, path, case, failure, and of each trace its policy, script and instants. */
  readonly message: string
  readonly counterexample: T
  /** `check` with this seed and this path runs this case again, with the same random numbers. */
  readonly seed: number
  readonly path: string
  /** How the property ended: with a failure or with a defect. A property that gives `false` ends with a defect that says so. */
  readonly failure: Cause.Cause<E>
  /** The failure or the defect itself. */
  readonly cause: unknown
}> {}

/** A case that fast-check asks about, and the answers to it. */
interface Case<T> {
  readonly value: T
  readonly draws: number
  readonly holds: () => void
  readonly fails: (error: unknown) => void
}

type Asked<T> =
  | { readonly type: "case"; readonly drawn: Case<T> }
  | { readonly type: "end"; readonly details: fc.RunDetails<[T, number]> }
  | { readonly type: "crash"; readonly error: unknown }

interface Failing<E> {
  readonly failure: Cause.Cause<E>
  readonly traces: ReadonlyArray<Trace.Traced | Played>
}

/** A trace of `play`, which knows no policy. */
interface Played extends Trace.Trace {
  readonly script: FailureScript
}

/** A seed for `Random.withSeed`; `check` draws one for each case by itself. It does not shrink: a smaller case has the same. */
export const seed: fc.Arbitrary<number> = fc.noShrink(fc.noBias(fc.nat()))

/**
 * Checks a property on many cases. A property does not hold where it gives `false`, fails or dies; then the case is shrunk, and
 * reported with its seed, its path, the case itself, and every trace that was made of it: with what the policy is explained to do,
 * and the script, where the case does not say it.
 *
 * Each case has random numbers of its own (`Random`) that follow from the seed, so that a case with jitter fails again in the same
 * way, also while it is shrunk; and `Snapshot.Claims` of its own, for its ids follow from the seed too. Each case runs in a fiber of its own: an interruption of `check` interrupts it, waits for its
 * finalizers, and no further case begins. A defect of the arbitrary is a defect of `check`.
 *
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { FailureScript } from "@kintsugi/core/testing"
 * import * as FastCheck from "@kintsugi/core/testing/FastCheck"
 * import { Effect } from "effect"
 *
 * const property = FastCheck.check(FastCheck.options, (options, { trace }) =>
 *   Effect.map(
 *     trace(Recovery.retry(options), FailureScript.always(FailureScript.fails("Down"))),
 *     ({ attempts }) => attempts.length <= 6
 *   )
 * )
 *
 * Effect.runPromise(property) // => undefined
 * ```
 */
export const check = <T, E, R>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T, tools: Tools) => Effect.Effect<unknown, E, R>,
  { path, runs = 1_000, seed: given }: CheckOptions = {}
): Effect.Effect<void, CounterexampleError<T, E>, R> =>
  Effect.gen(function* () {
    if (!Number.isSafeInteger(runs) || runs < 1) {
      return yield* Effect.die(
        new RangeError(`FastCheck.check: runs must be a whole number of at least 1, got ${runs}`)
      )
    }
    const start = given ?? (yield* Random.nextIntBetween(0, 0x7fff_ffff))
    const asked = yield* Queue.unbounded<Asked<T>>()
    const holding = fc.asyncProperty(
      arbitrary,
      seed,
      (value, draws) =>
        new Promise<void>((holds, fails) => {
          Queue.offerUnsafe(asked, { type: "case", drawn: { value, draws, holds, fails } })
        })
    )
    // a time limit that is set for all of fast-check would go on to the next case while this one runs; its type knows no "none"
    const settings = { numRuns: runs, seed: start, timeout: undefined as never }
    const replayed = path === undefined ? {} : { path, endOnFailure: true }
    // of this promise nothing is left when `check` takes no further message
    void (async () => fc.check(holding, { ...settings, ...replayed }))().then(
      (details) => Queue.offerUnsafe(asked, { type: "end", details }),
      (error: unknown) => Queue.offerUnsafe(asked, { type: "crash", error })
    )
    let failing: Failing<E> | undefined
    while (true) {
      const message = yield* Queue.take(asked)
      if (message.type === "crash") return yield* Effect.die(message.error)
      if (message.type === "end") {
        return message.details.failed ? yield* failed(message.details, failing) : undefined
      }
      const { draws, fails, holds, value } = message.drawn
      const { tools, traces } = remembering()
      const exit = yield* inOwnFiber(
        Effect.suspend(() => property(value, tools)).pipe(
          Random.withSeed(draws),
          Effect.provideService(Claims, claimsOfCase())
        )
      )
      const failure = failureOf(exit)
      const error = failure === undefined ? undefined : Cause.squash(failure)
      if (failure !== undefined) {
        // a case that `fc.pre` refuses does not count
        if (!fc.PreconditionFailure.isFailure(error)) failing = { failure, traces }
        fails(error)
      } else if (path !== undefined) return
      else holds()
    }
  })

/** Ids follow from the seed of a case, and a smaller case has the same ones: what one case has resumed, the next one may resume. */
const claimsOfCase = (): Claims => {
  const claimants = new Map<string, string>()
  const take = ({ claimant, snapshot }: Parameters<Claims["claim"]>[0]) => {
    const first = claimants.get(snapshot) ?? claimant
    claimants.set(snapshot, first)
    return first === claimant
  }
  return { claim: (claim) => Effect.sync(() => take(claim)) }
}

/** Interrupts and awaits the fiber when the caller is interrupted; what a case forks ends with the case. */
const inOwnFiber = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.acquireUseRelease(Effect.forkChild(self, { startImmediately: true }), Fiber.await, Fiber.interrupt)

const failureOf = <E>(exit: Exit.Exit<unknown, E>): Cause.Cause<E> | undefined => {
  if (Exit.isFailure(exit)) return exit.cause
  return exit.value === false ? Cause.die(new Error("the property gave false")) : undefined
}

const remembering = () => {
  const traces: Array<Trace.Traced | Played> = []
  const remember = <A extends Trace.Traced | Played>(seen: A) => Effect.sync(() => traces.push(seen))
  const tools: Tools = {
    trace: (policy, script) => Effect.tap(Trace.trace(policy, script), remember),
    play: (script, ...others) => Effect.tap(Trace.play(script, ...others), (seen) => remember({ ...seen, script }))
  }
  return { tools, traces }
}

// --- the report

const failed = <T, E>(
  { counterexample, counterexamplePath: path, numRuns, numShrinks, numSkips, seed }: fc.RunDetails<[T, number]>,
  failing: Failing<E> | undefined
): Effect.Effect<never, CounterexampleError<T, E>> => {
  if (counterexample === null || path === null || failing === undefined) {
    return Effect.die(new Error(`seed ${seed}: ${numRuns} cases ran, and ${numSkips} were refused by fc.pre`))
  }
  const { failure, traces } = failing
  const cause = Cause.squash(failure)
  const drawn = show(counterexample[0])
  const said = messageOf(cause)
  const message = [
    `seed ${seed}, path "${path}", case ${numRuns}, shrunk ${numShrinks} times`,
    `case ${drawn}`,
    said,
    ...traces.flatMap((traced) => tell(traced, [drawn, said]))
  ].join("\n")
  return Effect.fail(
    new CounterexampleError({ message, counterexample: counterexample[0], seed, path, failure, cause })
  )
}

/** What the report does not say yet. */
const tell = (traced: Trace.Traced | Played, said: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isNew = (text: string) => !said.some((one) => one.includes(text))
  const explained = "policy" in traced ? [Trace.explained(traced.policy)] : []
  const played = [Trace.formatScript(traced.script)]
  const seen = [Trace.format(traced)]
  return [
    ...explained.filter(isNew).map((text) => `policy\n${text}\n`),
    ...played.filter(isNew).map((text) => `script ${text}`),
    ...seen.filter(isNew).map((text) => `trace\n${text}`)
  ]
}

const messageOf = (error: unknown): string => {
  if (typeof error === "string") return error
  if (!(error instanceof Error)) return show(error)
  // an error of ours says by its tag what happened; an error about a trace says it all
  const isOfTrace = error instanceof Trace.ExceededError || error instanceof Trace.UnexpectedTraceError
  return Predicate.hasProperty(error, "_tag") && !isOfTrace ? String(error) : error.message
}

const show = (value: unknown): string => fc.stringify(legible(value, []))

/** Tagged errors as plain objects, for fast-check shows of an error its message alone. */
const legible = (value: unknown, ancestors: ReadonlyArray<unknown>): unknown => {
  // fast-check stops at a circle by itself
  if (ancestors.includes(value)) return value
  const within = [...ancestors, value]
  if (Array.isArray(value)) return value.map((one) => legible(one, within))
  if (!Predicate.isObject(value)) return value
  const isTagged = value instanceof Error && Predicate.hasProperty(value, "_tag")
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isTagged && prototype !== Object.prototype && prototype !== null) return value
  const fields = Object.entries(value).map(([name, field]) => [name, legible(field, within)])
  return Object.fromEntries(isTagged ? [["_tag", value._tag], ...fields] : fields)
}
