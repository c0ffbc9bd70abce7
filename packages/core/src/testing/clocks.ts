/** Clocks for the runs of a comparison: a virtual clock, and a time limit for runs that never end. */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** The failure of a run that exceeded its time limit. */
class Hung extends Data.TaggedError("Hung") {}

/** Fails with `Hung` if a run does not end in time. It also stops waiting for a run that cannot be interrupted. */
export const endedWithin = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  limit: Duration.Duration
): Effect.Effect<A, E | Hung, R> =>
  Effect.gen(function* () {
    // Mutants `{}`, `false` survive: only a yield more
    const fiber = yield* Effect.forkDetach(self, { startImmediately: true })
    const givenUp = Effect.timeoutOption(Fiber.interrupt(fiber), limit)
    return yield* Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.andThen(givenUp, Effect.fail(new Hung())) }),
      Effect.onInterrupt(() => Fiber.interrupt(fiber))
    )
  })

/** A virtual time that is longer than any run takes. */
const ages = Duration.days(1000)

/** Runs an effect on its own virtual clock: waits take no real time. */
export const onVirtualClock = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    // Mutants `{}`, `false` survive: only a yield more
    const fiber = yield* Effect.forkChild(self, { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.yieldNow
      yield* TestClock.adjust(ages)
    }
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer()))
