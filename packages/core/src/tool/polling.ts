/** Asks for the settlement of a deferred call by a schedule. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { untouchable } from "../recovery/Layer.ts"

/** How a call is asked about: its answer is the result, or nothing yet. */
export interface Poll {
  readonly every: Schedule.Schedule<unknown, unknown>
  readonly check: Effect.Effect<Option.Option<unknown>, unknown>
}

/** What the polls have found: the settlement, or nothing where the schedule has ended. Defects and interruption pass. */
export const settlementOf = <E>(
  { check, every }: Poll,
  pause: (delay: Duration.Duration) => Effect.Effect<void, E>,
  isFirstAtOnce: boolean
): Effect.Effect<Exit.Exit<unknown, unknown> | undefined, E> =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(every)
    let isDue = isFirstAtOnce
    let failed: Exit.Exit<never, unknown> | undefined
    let seen: unknown = Option.none()
    while (true) {
      if (!isDue) {
        const next = yield* Effect.exit(step(yield* Clock.currentTimeMillis, seen))
        // a schedule that is done says so by a failure
        if (Exit.isFailure(next)) return failed
        yield* pause(next.value[1])
      }
      isDue = false
      const found = yield* Effect.exit(check)
      if (Exit.isSuccess(found)) {
        if (Option.isSome(found.value)) return Exit.succeed(found.value.value)
        failed = undefined
        seen = found.value
        continue
      }
      const passing = untouchable(found.cause)
      if (passing !== undefined) return yield* Effect.failCause(passing)
      seen = Cause.squash(found.cause)
      failed = Exit.fail(seen)
    }
  })

/** Polls in passing, where nothing waits between two polls: whenever, at this instant, the schedule has come to the next one. */
export type InPassing = (now: number) => Effect.Effect<Exit.Exit<unknown, unknown> | undefined>

/** Defects and interruption pass. */
export const inPassing = ({ check, every }: Poll, begunAt: number): Effect.Effect<InPassing> =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(every)
    let dueAt = 0
    /** Notes when the next poll is due; a schedule that is done says so by a failure. */
    const next = (now: number, seen: unknown) =>
      Effect.map(Effect.exit(step(now, seen)), (next) => {
        dueAt = Exit.isFailure(next) ? Infinity : now + Duration.toMillis(next.value[1])
      })
    yield* next(begunAt, Option.none())
    return Effect.fnUntraced(function* (now: number) {
      if (now < dueAt) return undefined
      const found = yield* Effect.exit(check)
      if (Exit.isSuccess(found)) {
        if (Option.isSome(found.value)) return Exit.succeed(found.value.value)
        yield* next(now, found.value)
        return undefined
      }
      const passing = untouchable(found.cause)
      if (passing !== undefined) return yield* Effect.failCause(passing)
      const error = Cause.squash(found.cause)
      yield* next(now, error)
      return dueAt === Infinity ? Exit.fail(error) : undefined
    })
  })
