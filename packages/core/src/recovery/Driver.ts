/**
 * The one driver that steps a whole table. Rows never nest: every failure is looked up afresh, and each row keeps its
 * own count for as long as the call lasts, so two rows of three retries make at most seven attempts, not sixteen.
 *
 * What differs by layer comes in as a `Subject`: how to attempt, where to look up, what an ending means there.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { Call } from "./call.ts"
import { type Ending, type Origin, type Progress, type Rules, type Trace, untouchable } from "./rules.ts"

export type { Compactions, Ending, Progress, Row, Trace } from "./rules.ts"
export { untouchable } from "./rules.ts"

export interface Subject<A, B, E, R> extends Rules<R> {
  readonly attempt: (attempt: number) => Effect.Effect<A, unknown, R>
  /** `trace` is absent when the first attempt succeeded. */
  readonly succeed: (value: A, trace: Trace | undefined) => Effect.Effect<B, E, R>
  /** Hears that the first attempt has failed, now or before it was resumed, and where to look up what was decided since. */
  readonly recovering?: (progress: Progress) => void
  readonly end: (ending: Ending, trace: Trace) => Effect.Effect<B, E, R>
}

/** Goes on where a policy stood when it waited: the rest of the wait, then the next attempt. */
export const goOn = <A, B, E, R>(subject: Subject<A, B, E, R>, from: Origin): Effect.Effect<B, E, R> =>
  Clock.clockWith((clock) => {
    const { startedAt, wakeAt } = from.position
    const call = new Call(subject, clock, startedAt, from)
    subject.recovering?.(call)
    const left = wakeAt - clock.currentTimeMillisUnsafe()
    return Effect.andThen(Effect.sleep(left), attempting(subject, call))
  })

/** Attempts, and on failure follows the table to its end. Interruption and defects pass untouched. */
export const drive = <A, B, E, R>(subject: Subject<A, B, E, R>): Effect.Effect<B, E, R> =>
  Effect.withFiber((fiber) => begin(subject, fiber))

/** `drive` where the fiber is at hand: the first attempt begins now. */
export const begin = <A, B, E, R>(
  subject: Subject<A, B, E, R>,
  fiber: Fiber.Fiber<unknown, unknown>
): Effect.Effect<B, E, R> => {
  const clock = fiber.getRef(Clock.Clock)
  const start = clock.currentTimeMillisUnsafe()
  return Effect.matchCauseEffect(subject.attempt(1), {
    onSuccess: (value) => subject.succeed(value, undefined),
    onFailure: (cause) => recover(subject, cause, clock, start)
  })
}

const recover = <A, B, E, R>(
  subject: Subject<A, B, E, R>,
  first: Cause.Cause<unknown>,
  clock: Clock.Clock,
  start: number
): Effect.Effect<B, E, R> => {
  const call = new Call(subject, clock, start)
  subject.recovering?.(call)
  return following(subject, call, first)
}

const attempting = <A, B, E, R>(subject: Subject<A, B, E, R>, call: Call<R>): Effect.Effect<B, E, R> =>
  Effect.matchCauseEffect(subject.attempt(call.next()), {
    onSuccess: (value) => subject.succeed(value, call.trace()),
    onFailure: (cause) => following(subject, call, cause)
  })

const following = <A, B, E, R>(
  subject: Subject<A, B, E, R>,
  call: Call<R>,
  cause: Cause.Cause<unknown>
): Effect.Effect<B, E, R> => {
  const passing = untouchable(cause)
  if (passing !== undefined) return Effect.failCause(passing)
  return Effect.flatMap(call.decide(Cause.squash(cause)), (step) =>
    step.type === "again" ? attempting(subject, call) : subject.end(step, call.trace())
  )
}
