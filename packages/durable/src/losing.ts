/** Rows of a run may be deleted while it goes on. A run that finds a gap fails: it neither waits for ever nor repeats a step. */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as DoorError from "@kintsugi/core/DoorError"
import type { Replay } from "./recording.ts"
import { rowsOf, stepId } from "./rows.ts"

/** The result of a step that runs although it was recorded before: its row is gone. */
export const repeated = { instant: -1, text: "repeated" } as const

/** Ends the run, past everything that handles failures. */
export const lose = ({ executionId }: Pick<Replay, "executionId">, missing: string): Effect.Effect<never> =>
  Effect.die(DoorError.RunLostError.make({ executionId, what: missing }))

/** An execution, seen from within or from outside. */
type Execution = Pick<Replay, "engine" | "executionId" | "instance">

const resultOf = <S extends Schema.Constraint, E extends Schema.Constraint>(
  { engine, instance }: Execution,
  deferred: DurableDeferred.DurableDeferred<S, E>
) => Effect.provideService(engine.deferredResult(deferred), WorkflowInstance, instance)

const noteOf = (name: string) => DurableDeferred.make(`${name}/noted`)

/** Whether a note says that a step was recorded. */
export const isNoted = (replay: Execution, name: string): Effect.Effect<boolean> =>
  Effect.map(resultOf(replay, noteOf(name)), Option.isSome)

/** Notes that a step is recorded, in a row of another kind that is stored after the row of the step. */
export const note = ({ engine, executionId, instance }: Execution, name: string): Effect.Effect<void> => {
  const token = DurableDeferred.tokenFromExecutionId(noteOf(name), { workflow: instance.workflow, executionId })
  return DurableDeferred.done(noteOf(name), { token, exit: Exit.void }).pipe(
    Effect.provideService(WorkflowEngine, engine),
    Effect.provideService(WorkflowInstance, instance)
  )
}

/** Whether the run goes on in another replay: what stops now has not ended. */
export const isLeft = ({
  instance,
  scope,
  stopping,
  taken
}: Pick<Replay, "instance" | "scope" | "stopping" | "taken">): boolean =>
  !instance.interrupted && !stopping.isSo && (instance.suspended || taken.isSo || scope.state._tag === "Closed")

/** Ends a run whose wait was over but whose stored end is gone: it would wait once more. */
export const stillThere = <S extends Schema.Constraint, E extends Schema.Constraint>(
  replay: Replay,
  name: string,
  deferred: DurableDeferred.DurableDeferred<S, E>
): Effect.Effect<void> => {
  const { rows } = replay
  if (rows === undefined) return Effect.void
  const isGone = Effect.map(resultOf(replay, deferred), Option.isNone)
  return Effect.flatMap(rows.has("activity", stepId(`${name}/over`)), (wasOver) =>
    wasOver
      ? Effect.flatMap(isGone, (isGone) => (isGone ? lose(replay, `what ended '${name}'`) : Effect.void))
      : Effect.void
  )
}

/** How long a step may wait for its engine before its row is looked at, the first time and later on. */
const first = Duration.seconds(10)
const longest = Duration.minutes(1)

/**
 * Ends a run with a step whose reply is gone. The engine counts the step as done, and waits for the reply for ever: only its storage
 * shows that.
 */
export const orLost = <A, E, R>(
  replay: Replay,
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, E | DoorError.RunLostError, R> => {
  const { clock, executionId, rows, taken, waiting } = replay
  if (rows === undefined) return self
  const looking = Effect.gen(function* () {
    for (let pause = first; ; pause = Duration.min(Duration.times(pause, 2), longest)) {
      yield* clock.sleep(pause)
      for (const step of waiting) {
        if (!(yield* rows.isLost("activity", stepId(step)))) continue
        // steps under way record nothing from now on
        taken.isSo = true
        return yield* Effect.fail(DoorError.RunLostError.make({ executionId, what: `the result of step '${step}'` }))
      }
    }
  })
  return Effect.raceFirst(self, Effect.provideService(looking, Clock.Clock, clock))
}

/** Fails if the row with the status of a run is gone. */
export const demandRow = (workflow: Workflow.Any, executionId: string): Effect.Effect<void, DoorError.RunLostError> =>
  Effect.gen(function* () {
    const rows = yield* rowsOf(workflow, executionId)
    if (rows === undefined || !(yield* rows.isLost("run", ""))) return
    return yield* Effect.fail(DoorError.RunLostError.make({ executionId, what: "its status" }))
  })
