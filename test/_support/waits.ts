/** Schedules stepped by hand. */
import { Duration, Effect, Pull, Random, Schedule } from "effect"

/** The next wait of a schedule, in milliseconds; none where it is done. */
export const next = <E>(step: Step<E>, now: number, error: E): Effect.Effect<number | undefined> =>
  Pull.matchEffect(step(now, error), {
    onSuccess: ([, delay]) => Effect.succeed(Duration.toMillis(delay)),
    onFailure: Effect.failCause,
    onDone: () => Effect.succeed(undefined)
  })

/** What makes the decisions of a schedule, one after another. */
export type Step<E> = Effect.Success<ReturnType<typeof Schedule.toStep<unknown, E, never, never>>>

/** The waits of a schedule that is fed these errors at one instant, in milliseconds, until it is done. */
export const waits = <E>(
  schedule: Schedule.Schedule<unknown, E>,
  errors: Iterable<E>,
  now = 0
): Effect.Effect<ReadonlyArray<number>> =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(schedule)
    const found: Array<number> = []
    for (const error of errors) {
      const wait = yield* next(step, now, error)
      if (wait === undefined) break
      found.push(wait)
    }
    return found
  })

/** An error whose server asks for that many milliseconds. */
export const hinting = (millis: number | undefined): object =>
  millis === undefined ? {} : { retryAfter: Duration.millis(millis) }

/** Runs it with a `Random` service that draws the same number for ever. */
export const drawing =
  (draw: number) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, Random.Random, { nextDoubleUnsafe: () => draw, nextIntUnsafe: () => 0 })
