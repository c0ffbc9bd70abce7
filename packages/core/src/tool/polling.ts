/** Polls for the settlement of a deferred call, by a schedule. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { untouchable } from "../recovery/Layer.ts"

/** How a deferred call is polled. `check` returns the result, or `None` if there is none yet. */
export interface Poll {
  readonly every: Schedule.Schedule<unknown, unknown>
  readonly check: Effect.Effect<Option.Option<unknown>, unknown>
}

/** Polls until there is a settlement. `undefined` means that the schedule has ended without one. Defects and interruptions pass. */
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
        // the step of a schedule fails when the schedule has ended
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

/** Polls at `now` if the schedule has come to its next poll; otherwise does nothing. No fiber waits between two polls. */
export type InPassing = (now: number) => Effect.Effect<Exit.Exit<unknown, unknown> | undefined>

/** Makes a poller that starts its schedule at `begunAt`. Defects and interruptions of `check` pass. */
export const inPassing = ({ check, every }: Poll, begunAt: number): Effect.Effect<InPassing> =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(every)
    let dueAt = 0
    /** Notes when the next poll is due. The step of a schedule fails when the schedule has ended: then no poll is due. */
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
