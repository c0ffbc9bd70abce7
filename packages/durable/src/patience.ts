/** Waits for the storage of an engine, instead of ending a run with what the storage could not do at one moment. */
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as ErrorCause from "@kintsugi/core/ErrorCause"

/** The first wait before another attempt, and the longest: each is twice as long as the one before. In milliseconds. */
const first = 250
const longest = 10_000

/**
 * An engine for the steps of a run. Effect's engine dies where its storage cannot be reached, and the death of a step would end the run for
 * ever. This one tries again until the storage answers: a step has a key, so what was stored before the answer got lost counts.
 */
export const patient = (engine: WorkflowEngine["Service"], clock: Clock.Clock): WorkflowEngine["Service"] => {
  const stored = <A, R>(self: Effect.Effect<A, never, R>, delay = first): Effect.Effect<A, never, R> =>
    Effect.catchCause(self, (cause) => {
      if (!isOfStorage(cause)) return Effect.failCause(cause)
      const sleeping = clock.sleep(Duration.millis(delay))
      const waits =
        delay === first ? Effect.andThen(Effect.logWarning(notice, ErrorCause.logged(cause)), sleeping) : sleeping
      return Effect.andThen(waits, stored(self, Math.min(2 * delay, longest)))
    })
  return {
    ...engine,
    activityExecute: (activity, attempt) => stored(engine.activityExecute(activity, attempt)),
    deferredResult: (deferred) => stored(engine.deferredResult(deferred)),
    deferredDone: (deferred, options) => stored(engine.deferredDone(deferred, options)),
    scheduleClock: (workflow, options) => stored(engine.scheduleClock(workflow, options))
  }
}

const notice = "Durable: the storage of the engine does not answer. The run waits for it"

/** Whether an effect died because the storage failed. An interruption beside that counts as one. */
const isOfStorage = (cause: Cause.Cause<never>): boolean =>
  !Cause.hasInterrupts(cause) &&
  cause.reasons.some((reason) => Cause.isDieReason(reason) && Predicate.isTagged(reason.defect, "PersistenceError"))
