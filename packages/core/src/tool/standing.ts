/** How far a call had come with its ladder when its run was suspended, and how it goes on from there. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Standing } from "../event/Snapshot.ts"
import type { Outcome } from "./outcome.ts"
import * as Driver from "../recovery/Driver.ts"
import { asOfNow, seenOf } from "../recovery/Position.ts"
import { trailOf } from "../recovery/Decisions.ts"

/** What a call knows of itself besides its ladder. */
export type Kept = Pick<Standing, "key" | "runs" | "isOpen">

/** What is kept of each failure of a call that may be suspended; of others nothing is. */
export const keeping = (maySuspend: boolean): typeof seenOf | undefined => (maySuspend ? seenOf : undefined)

/** Of a call that waits just before an attempt, which it has not made yet. */
export const standingOf = (progress: Driver.Progress, kept: Kept): Standing => {
  const { failures, trail } = progress.trace()
  const position = progress.position()
  return {
    ...kept,
    position: { ...position, attempts: position.attempts - 1 },
    failures: failures.map(seenOf),
    trail: trailOf(trail)
  }
}

/** Settles a call; goes on where it stood. The time for which the run was suspended is none of the call's. */
export const settle = (
  subject: Driver.Subject<unknown, Outcome, never, never>,
  standing: Standing | undefined
): Effect.Effect<Outcome> =>
  standing === undefined
    ? Driver.drive(subject)
    : Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const { failures, position, trail } = standing
        const decisions = trail.map(({ message, ...entry }) => ({ ...entry, error: { _tag: entry.tag, message } }))
        return Driver.goOn(subject, { position: asOfNow(position, now), failures, trail: decisions })
      })

/** What is left of the time of a call. */
export const leftOf = (callTimeout: Duration.Duration, standing: Standing | undefined): Duration.Duration => {
  if (standing === undefined) return callTimeout
  const { startedAt, wakeAt } = standing.position
  return Duration.subtract(callTimeout, Duration.millis(wakeAt - startedAt))
}
