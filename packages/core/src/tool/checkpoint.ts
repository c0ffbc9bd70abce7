/** The checkpoint of a call that waits: what it waits for, its progress, and how it goes on. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { CallCheckpoint, CallProgress } from "../event/Checkpoint.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import type { Origin } from "../recovery/Layer.ts"
import { asOfNow, seenOf } from "../recovery/Position.ts"
import type { ToolCall } from "./callState.ts"

/** Makes the checkpoint of a call that waits. `runs` is the number of its executions that are over. */
export const checkpointOf = (self: ToolCall, runs: number, waiting: CallCheckpoint): CallCheckpoint => {
  // a call that waits because of a failure has made its last attempt; any other call waits in an attempt that it has not made yet
  const isMade = waiting.type === "decision" && waiting.request.failed !== undefined
  const progress = progressOf(self, runs, isMade ? 0 : 1)
  const { elapsed } = self
  return {
    ...waiting,
    ...(progress === undefined ? {} : { progress }),
    ...(elapsed === undefined ? {} : { elapsed: elapsed() })
  }
}

/** The progress of a call, without its `begun` attempts that are not made yet. `undefined` before the first attempt is made. */
const progressOf = ({ progress, state }: ToolCall, runs: number, begun: number): CallProgress | undefined => {
  // Mutants `["Stryker was here"]` #1, `["Stryker was here"]` #2 survive: without a progress they are not read
  const { attempts = 0, failures = [], trail = [] } = progress?.trace() ?? {}
  if (progress === undefined || attempts <= begun) return undefined
  return {
    executions: runs,
    isUncertain: state.isUncertain,
    position: { ...progress.position(), attempts: attempts - begun },
    failures: failures.map(seenOf),
    trail: trailOf(trail)
  }
}

/** The origin from which a resumed call goes on. The time for which its run was suspended does not count. */
export const originOf = ({ failures, position, trail }: CallProgress): Effect.Effect<Origin> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const decisions = trail.map(({ message, ...entry }) => ({ ...entry, error: { _tag: entry.tag, message } }))
    return { position: asOfNow(position, now), failures, trail: decisions }
  })
