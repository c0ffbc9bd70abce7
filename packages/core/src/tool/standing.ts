/** How far a call had come with its ladder when its run was suspended, and how it goes on from there. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Standing } from "../event/Snapshot.ts"
import { trailOf } from "../recovery/Decisions.ts"
import type { Origin } from "../recovery/Layer.ts"
import { asOfNow, seenOf } from "../recovery/Position.ts"
import type { ToolCall } from "./callState.ts"

/** What a call knows of itself besides its ladder. */
export type Kept = Pick<Standing, "runs" | "isOpen">

/** Of a call that waits just before an attempt, which it has not made yet; absent where that is its first one. */
export const checkpointOf = ({ progress, site, state }: ToolCall, runs: number): Standing | undefined => {
  const { attempts = 0, failures = [], trail = [] } = progress?.trace() ?? {}
  if (progress === undefined || attempts <= 1) return undefined
  return {
    key: site.key,
    runs,
    isOpen: state.isOpen,
    position: { ...progress.position(), attempts: attempts - 1 },
    failures: failures.map(seenOf),
    trail: trailOf(trail)
  }
}

/** Where a call goes on. The time for which the run was suspended is none of the call's. */
export const originOf = (standing: Standing): Effect.Effect<Origin> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { failures, position, trail } = standing
    const decisions = trail.map(({ message, ...entry }) => ({ ...entry, error: { _tag: entry.tag, message } }))
    return { position: asOfNow(position, now), failures, trail: decisions }
  })

/** What is left of the time of a call. */
export const leftOf = (callTimeout: Duration.Duration, standing: Standing | undefined): Duration.Duration => {
  if (standing === undefined) return callTimeout
  const { startedAt, wakeAt } = standing.position
  return Duration.subtract(callTimeout, Duration.millis(wakeAt - startedAt))
}
