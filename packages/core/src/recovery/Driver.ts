/**
 * The driver: it makes the attempts of a call and applies a recovery table to each failure. All layers use it, and pass their differences
 * as a `Layer`. Rows never nest: the driver looks up every failure anew, and each row keeps its count during the call. So two rows of three
 * retries make at most seven attempts, not sixteen.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Layer, type Origin, type Ends, type Says, type Trace, untouchable } from "./Layer.ts"
import { type Ending, Policy } from "./policy.ts"

/** A layer with any set of endings. */
type Driven<A, B, E, R> = Layer<A, B, E, R, Ends<A, B, E, R> & Partial<Says<B, E, R>>>

/**
 * Attempts a call, and applies the table to each failure until the table ends. Interruptions and defects pass through. With `from`, a
 * stored policy continues: with the rest of its wait, then with the next attempt.
 */
export const drive = <A, B, E, R>(layerOf: () => Driven<A, B, E, R>, from?: Origin): Effect.Effect<B, E, R> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const layer = layerOf()
    const now = clock.currentTimeMillisUnsafe()
    if (from === undefined) return attempts(layer, clock, now)
    const { startedAt, wakeAt } = from.position
    const policy = new Policy(layer, clock, startedAt, from)
    const { failed } = from
    if (failed !== undefined) return decided(layer, clock, now, policy, failed.error)
    const slept = Effect.sleep(wakeAt - now)
    return Effect.flatMap(slept, () => attempts(layer, clock, now, policy))
  })

/** Makes the next attempt. */
const attempts = <A, B, E, R>(
  layer: Driven<A, B, E, R>,
  clock: Clock.Clock,
  startedAt: number,
  made?: Policy<R>
): Effect.Effect<B, E, R> => attempted(layer, clock, startedAt, layer.attempt(made?.next() ?? 1, made), made)

/** Ends or repeats a call after an attempt. A policy is made at the first failure only. */
const attempted = <A, B, E, R>(
  layer: Driven<A, B, E, R>,
  clock: Clock.Clock,
  startedAt: number,
  attempt: Effect.Effect<A, unknown, R>,
  made: Policy<R> | undefined
): Effect.Effect<B, E, R> =>
  Effect.matchCauseEffect(attempt, {
    onSuccess: (value) => layer.end.succeeded(value, made?.trace() ?? atOnce),
    onFailure: (cause) => {
      const passing = untouchable(cause)
      if (passing !== undefined) return Effect.failCause(passing)
      const error = Cause.squash(cause)
      const repeated = layer.repeat?.(error)
      return repeated === undefined
        ? decided(layer, clock, startedAt, made ?? new Policy(layer, clock, startedAt), error)
        : attempted(layer, clock, startedAt, repeated, made)
    }
  })

/** Applies the table to a failure, then repeats or ends the call. */
const decided = <A, B, E, R>(
  layer: Driven<A, B, E, R>,
  clock: Clock.Clock,
  startedAt: number,
  policy: Policy<R>,
  error: unknown
): Effect.Effect<B, E, R> =>
  Effect.flatMap(policy.decide(error, layer.row(error, policy)), (step) =>
    step.type === "repeat" ? attempts(layer, clock, startedAt, policy) : ended(layer, step, policy.trace())
  )

/** The trace of a call whose first attempt succeeds. */
// Mutant `["Stryker was here"]` survives: of a call that succeeded, no failures are read
const atOnce: Trace = { attempts: 1, failures: [], trail: [] }

const ended = <A, B, E, R>({ end }: Driven<A, B, E, R>, ending: Ending, trace: Trace): Effect.Effect<B, E, R> => {
  // the types refuse endings that a layer does not have; for an untyped program the failure then leaves unchanged
  const leaves = (error: unknown) => end.left({ type: "left", why: "rethrown", error }, trace)
  switch (ending.type) {
    case "answered":
      return end.answered(ending, trace)
    case "left":
      return end.left(ending, trace)
    case "to-model":
      return end.toModel?.(ending, trace) ?? leaves(ending.error)
    case "escalated":
      return end.escalated?.(ending, trace) ?? leaves(ending.error)
    case "raised":
      return end.raised?.(ending, trace) ?? leaves(ending.error)
  }
}
