/** Stops a durable run, from any process: a row notes that the run must stop, and then the engine interrupts it where it is at work. */
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

/** The name of the note that a run without a log has stopped, and that its listeners have got the last event. */
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

/** Whether `Durable.interrupt` has stopped a run. */
export const isStopped = (of: Execution): Effect.Effect<boolean> => isNoted(of, name)

/** Looks whether a run must stop. If so, it also reads the messages that the run has not read. Returns whether it must stop. */
const look = (replay: Replay): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    if (!(yield* isStopped(replay))) return false
    const { hasInbox, instance, stopping } = replay
    if (hasInbox) stopping.unread = yield* unreadOf({ ...replay, workflow: instance.workflow })
    return (stopping.isSo = true)
  })

/**
 * Runs a replay, and finds out what an interruption of it means: the run was stopped, or the engine has taken it from this process to
 * continue it elsewhere.
 */
export const watched = <A, E, R>(replay: Replay, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(self, { startImmediately: true }), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () =>
      Effect.flatMap(look(replay), (isSo) => {
        replay.taken.isSo = !isSo
        const stopped = Fiber.interrupt(fiber)
        // a run with a log notes its end there
        return isSo && replay.log === undefined ? Effect.andThen(stopped, note(replay, heard)) : stopped
      })
    )
  )

/**
 * Looks at the beginning of a replay whether its run must stop, and if so tells the engine. Returns whether an earlier process has ended
 * the run already, so that only the engine has to learn of it.
 */
export const hasStopped = (replay: Replay): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { engine, executionId, instance, log, scope, stopping } = replay
    // the engine may end a run instead of suspending it; then the log gets the last events here
    if (log !== undefined) {
      yield* Scope.addFinalizer(
        instance.scope,
        Effect.suspend(() => (instance.interrupted ? log.end(replay, stopping.aside) : Effect.void))
      )
    }
    if (!(yield* look(replay))) return false
    // the process that called `interrupt` may have died before it told the engine; forked, because a run cannot wait for its own end
    yield* Effect.forkIn(engine.interrupt(instance.workflow, executionId), scope)
    return log === undefined ? yield* isNoted(replay, heard) : log.isOver
  })
