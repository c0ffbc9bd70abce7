/** Stopping a durable run, from any process: that it is to stop is stored, and then its engine interrupts it where it is at work. */
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type * as DoorError from "@kintsugi/core/DoorError"
import type { UnknownRunError } from "./errors.ts"
import { demanding, isOver } from "./knowing.ts"
import { isNoted, note } from "./losing.ts"
import type { Replay } from "./recording.ts"
import { unreadOf } from "./saying.ts"

const name = "interrupt"

/** That a run without a log has stopped, and its listeners have heard it. */
const heard = "interrupted"

/**
 * Stops a run, from any process. If the run is at work, its model call and its tools are interrupted, as by `run.interrupt` in memory. Work
 * of deferred tools is cancelled, messages that no safe point has read are returned, and the last event of the run is `run-interrupted`.
 * The exit of the run is an interruption then. A run that was stopped before, or that is over, ignores it.
 */
export const interrupt = (
  { workflow }: { readonly workflow: Workflow.Any },
  executionId: string
): Effect.Effect<void, UnknownRunError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    yield* demanding(workflow, executionId)
    const engine = yield* WorkflowEngine
    if (yield* isOver(engine, workflow, executionId)) return
    yield* note({ engine, executionId, instance: WorkflowInstance.initial(workflow, executionId) }, name)
    yield* engine.interruptUnsafe(workflow, executionId)
  })

type Execution = Pick<Replay, "engine" | "executionId" | "instance">

/** Whether a run is to stop. */
export const isStopped = (of: Execution): Effect.Effect<boolean> => isNoted(of, name)

/** Looks whether a run is to stop, and what was said to it that it has not read. */
const look = (replay: Replay): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    if (!(yield* isStopped(replay))) return false
    const { hasInbox, instance, stopping } = replay
    if (hasInbox) stopping.unread = yield* unreadOf({ ...replay, workflow: instance.workflow })
    return (stopping.isSo = true)
  })

/** Notes an interruption from outside before it reaches the run: it does not end the run, unless the run is to stop. */
export const watched = <A, E, R>(replay: Replay, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(self, { startImmediately: true }), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () =>
      Effect.flatMap(look(replay), (isSo) => {
        replay.taken.isSo = !isSo
        const stopped = Fiber.interrupt(fiber)
        // a log says so itself
        return isSo && replay.log === undefined ? Effect.andThen(stopped, note(replay, heard)) : stopped
      })
    )
  )

/** Looks at the beginning of a replay whether its run is to stop. Returns whether it has ended before, and the engine has only to know. */
export const hasStopped = (replay: Replay): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { engine, executionId, instance, log, scope, stopping } = replay
    // an engine that ends the run where it would have put it aside
    if (log !== undefined) {
      yield* Scope.addFinalizer(
        instance.scope,
        Effect.suspend(() => (instance.interrupted ? log.end(replay, stopping.aside) : Effect.void))
      )
    }
    if (!(yield* look(replay))) return false
    // the process that asked for it may have died in between; no run waits for its own engine
    yield* Effect.forkIn(engine.interrupt(instance.workflow, executionId), scope)
    return log === undefined ? yield* isNoted(replay, heard) : log.isOver
  })
