/** Suspends a run to a snapshot. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Exceeded } from "../budget/Meter.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import { errorOf } from "./Limits.ts"
import type { Running } from "./running.ts"
import { Suspension } from "./Start.ts"

/**
 * Ends a run at a limit. If `onBudgetExceeded` chose a checkpoint, the run is suspended, or fails with a failure that no table handles.
 * Otherwise it fails if the limit is its own. A run that has had its final turn ends as that turn did.
 */
export const endAt = (
  exceeded: Exceeded,
  isOwn: boolean,
  running: Running
): Effect.Effect<Suspension, unknown> | undefined => {
  const { endedBy, unhandled } = running.state
  if (endedBy !== undefined) return undefined
  if (isCheckpoint(running)) return unhandled === undefined ? suspend(running) : Effect.fail(unhandled.error)
  // nor does an answer
  if (isOwn && unhandled !== undefined && exceeded.meter.actionAt(exceeded.reason) === "answer")
    return Effect.fail(unhandled.error)
  return isOwn ? Effect.fail(errorOf(exceeded, running.run, running.state)) : undefined
}

/** Whether the limit that was reached, the run's own or that of a suspended parent, asks for a checkpoint. */
export const isCheckpoint = (running: Running): boolean => {
  const { mode, run } = running
  const { ended } = run.meter
  if (!mode.isSuspendable || ended?.meter.actionAt(ended.reason) !== "checkpoint") return false
  const owner = ended.meter
  return owner === run.meter || (mode.nesting?.parents.includes(owner) === true && canGoOn(running))
}

/** Whether a run can be resumed in the middle of its work. A function could only begin again. */
const canGoOn = ({ plan: { work }, state: { skill } }: Running): boolean =>
  work.kind === "choice" ? skill === undefined || work.works.get(skill)?.kind === "loop" : work.kind === "loop"

/** Suspends the run. If several runs are suspended together, the outermost has an id that resumes all of them. */
export const suspend = ({ mode, run, start, state }: Running): Effect.Effect<Suspension> =>
  Effect.withFiber((fiber) => {
    const snapshot = state.snapshot(run, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
    state.late?.suspend()
    if (mode.nesting !== undefined) return Effect.succeed(new Suspension(snapshot))
    const decided = start.decisions?.decided() ?? []
    const id = RunContext.drawId(fiber)
    return Effect.succeed(new Suspension({ ...snapshot, ...(decided.length === 0 ? {} : { decided }), id }))
  })

/** The snapshot of a sub-agent, for the parent that is suspended with it. */
export const capture =
  (running: Running) =>
  (now: number): Snapshot | undefined =>
    canGoOn(running) ? running.state.snapshot(running.run, now) : undefined
