/**
 * Checks properties with fast-check, and reports the smallest failing case. The check runs in the fiber of the caller. Needs the package
 * `fast-check`, an optional peer.
 */
import * as EffectArbitrary from "effect/Arbitrary"
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
import { fromEffect } from "./fromEffect.ts"
import * as Trace from "./Trace.ts"

export { fromEffect } from "./fromEffect.ts"

/** The functions that a property gets: `Trace.trace` and `Trace.play`. The report of a failing case shows each trace that they made. */
interface Tools {
  readonly trace: typeof Trace.trace
  readonly play: typeof Trace.play
}

/** Options of `check`: how many cases it tries, and which. */
export interface Options {
  /** How many cases are checked; 1,000 by default. */
  readonly runs?: number
  /**
   * The seed of the cases and of the random numbers (`Random`) in each case. By default it is drawn from `Random`. The report of a failing
   * case names its seed.
   */
  readonly seed?: number
  /**
   * The path of a failing case, from its report. With it and the seed of that report, `check` runs that case alone, and does not shrink it.
   */
  readonly path?: string
}

/** The smallest failing case that was found. `T` is the type of the case, `E` that of the property's failures. */
export class CounterexampleError<T = unknown, E = unknown> extends Data.TaggedError("CounterexampleError")<{
  /** The seed, the path, the case, the failure, and each trace with its policy and its script. */
  readonly message: string
  readonly counterexample: T
  /** The seed of the check. `check` with this seed and this path repeats the case with the same random numbers. */
  readonly seed: number
  readonly path: string
  /** How the property ended: with a failure or a defect. A property that returned `false` ends with a defect. */
  readonly failure: Cause.Cause<E>
  /** The failure or the defect as a plain value. */
  readonly cause: unknown
}> {}

/** A case that fast-check wants to be run, with the callbacks that report its result. */
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
  readonly traces: ReadonlyArray<Traced | Played>
}

type Traced = Effect.Success<ReturnType<typeof Trace.trace>>

/** A trace made by `play`, which has a script and no policy. */
interface Played extends Trace.Trace {
  readonly script: FailureScript
}

/** Draws the seed of one case's random numbers. It does not shrink, so that smaller cases have the same numbers. */
const draws: fc.Arbitrary<number> = fc.noShrink(fc.noBias(fc.nat()))

/**
 * Checks a property on many cases of an arbitrary. The arbitrary is one of Effect or of fast-check. A property does not hold where it gives
 * `false`, fails or dies. Then `check` shrinks the case and fails with a report: the seed, the path, the case, and every trace that the
 * property made. Beside a trace stand its policy and its script, unless the case shows them.
 *
 * - Each case has its own random numbers (`Random`), which follow from the seed. So a case with jitter fails in the same way while it is
 *   shrunk, and when it is repeated. It has its own `Snapshot.Claims` too, because its ids follow from the seed.
 * - Each case runs in a fiber of its own. An interruption of `check` interrupts that fiber and waits for its finalizers; no further case
 *   begins.
 * - A defect of the arbitrary is a defect of `check`.
 *
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { FailureScript } from "@kintsugi/core/testing"
 * import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
 * import * as FastCheck from "@kintsugi/core/testing/FastCheck"
 * import { Effect } from "effect"
 *
 * const property = FastCheck.check(Arbitraries.options, (options, { trace }) =>
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
  arbitrary: EffectArbitrary.Arbitrary<T> | fc.Arbitrary<T>,
  property: (value: T, tools: Tools) => Effect.Effect<unknown, E, R>,
  { path, runs = 1_000, seed: given }: Options = {}
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
      EffectArbitrary.TypeId in arbitrary ? fromEffect(arbitrary) : arbitrary,
      draws,
      (value, draws) =>
        new Promise<void>((holds, fails) => {
          Queue.offerUnsafe(asked, { type: "case", drawn: { value, draws, holds, fails } })
        })
    )
    // no time limit: a global limit of fast-check would start the next case while this one still runs; the type of the option has no value
    // for "none"
    const settings = { numRuns: runs, seed: start, timeout: undefined as never }
    const replayed = path === undefined ? {} : { path, endOnFailure: true }
    // if `check` is interrupted, it stops reading the queue, and this promise has no further effect
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
        // a case that `fc.pre` refuses is no failure of the property
        if (!fc.PreconditionFailure.isFailure(error)) failing = { failure, traces }
        fails(error)
      } else if (path !== undefined) return
      else holds()
    }
  })

/**
 * Makes the claims on snapshots of one case. Ids follow from the seed, so with shared claims a smaller case would claim the same snapshot
 * again and be refused.
 */
const claimsOfCase = (): Claims => {
  const claimants = new Map<string, string>()
  const take = ({ claimant, snapshot }: Parameters<Claims["claim"]>[0]) => {
    const first = claimants.get(snapshot) ?? claimant
    claimants.set(snapshot, first)
    return first === claimant
  }
  return { claim: (claim) => Effect.sync(() => take(claim)) }
}

/**
 * Runs a case in a fiber of its own, which ends together with the fibers that the case has forked. If the caller is interrupted, this fiber
 * is interrupted and awaited.
 */
const inOwnFiber = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  // Mutants `{}`, `false` survive: only a yield more
  Effect.acquireUseRelease(Effect.forkChild(self, { startImmediately: true }), Fiber.await, Fiber.interrupt)

const failureOf = <E>(exit: Exit.Exit<unknown, E>): Cause.Cause<E> | undefined => {
  if (Exit.isFailure(exit)) return exit.cause
  return exit.value === false ? Cause.die(new Error("the property gave false")) : undefined
}

const remembering = () => {
  const traces: Array<Traced | Played> = []
  const remember = <A extends Traced | Played>(seen: A) => Effect.sync(() => traces.push(seen))
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
  // Mutants `false` for `counterexample === null || path === null`, `false` for `counterexample === null`, `false` for `path === null`
  // survive: without a failing case all three are absent
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

/** The lines of a report about a trace: its policy, its script and the trace, each only if the report does not have it yet. */
const tell = (traced: Traced | Played, said: ReadonlyArray<string>): ReadonlyArray<string> => {
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
  // a tagged error is shown with its tag; the messages of trace errors already say everything
  return Predicate.hasProperty(error, "_tag") && !Trace.isTraceError(error) ? String(error) : error.message
}

const show = (value: unknown): string => fc.stringify(legible(value, []))

/** Converts tagged errors within a value to plain objects, because fast-check would show only their messages. */
const legible = (value: unknown, ancestors: ReadonlyArray<unknown>): unknown => {
  // fast-check handles cycles itself
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
