/** How long the runs of a comparison take: no time, and not for ever. */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** A run that was given up. */
class Hung extends Data.TaggedError("Hung") {}

/** Gives a run up that does not end, even one that cannot be interrupted. */
export const endedWithin = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  limit: Duration.Duration
): Effect.Effect<A, E | Hung, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(self, { startImmediately: true })
    const givenUp = Effect.timeoutOption(Fiber.interrupt(fiber), limit)
    return yield* Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.andThen(givenUp, Effect.fail(new Hung())) }),
      Effect.onInterrupt(() => Fiber.interrupt(fiber))
    )
  })

/** Longer than any run lasts. */
const ages = Duration.days(1000)

/** On a clock of its own: waits take no time, and end where they should. */
export const onVirtualClock = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(self, { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.yieldNow
      yield* TestClock.adjust(ages)
    }
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer()))
