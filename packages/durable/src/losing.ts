/**
 * Finds gaps in the rows of a run, which may be deleted while the run goes on. A run that finds a gap fails, instead of waiting for ever or
 * repeating a step.
 */
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

/** The results that stand for a gap: a step gives one if a note says that the step was recorded, but its row is gone. */
export const repeated = { instant: -1, text: "repeated" } as const

/** Ends the run with a `RunLostError`. It is a defect, so no policy of the agent handles it. */
export const lose = ({ executionId }: Pick<Replay, "executionId">, missing: string): Effect.Effect<never> =>
  Effect.die(DoorError.RunLostError.make({ executionId, what: missing }))

/** An execution, as its own replay or another process sees it. */
type Execution = Pick<Replay, "engine" | "executionId" | "instance">

const resultOf = <S extends Schema.Constraint, E extends Schema.Constraint>(
  { engine, instance }: Execution,
  deferred: DurableDeferred.DurableDeferred<S, E>
) => Effect.provideService(engine.deferredResult(deferred), WorkflowInstance, instance)

const noteOf = (name: string) => DurableDeferred.make(`${name}/noted`)

/** Whether a note says that a step was recorded. */
export const isNoted = (replay: Execution, name: string): Effect.Effect<boolean> =>
  Effect.map(resultOf(replay, noteOf(name)), Option.isSome)

/** Notes that a step is recorded. The note is a row of another kind, stored after the row of the step. */
export const note = ({ engine, executionId, instance }: Execution, name: string): Effect.Effect<void> => {
  const token = DurableDeferred.tokenFromExecutionId(noteOf(name), { workflow: instance.workflow, executionId })
  return DurableDeferred.done(noteOf(name), { token, exit: Exit.void }).pipe(
    Effect.provideService(WorkflowEngine, engine),
    Effect.provideService(WorkflowInstance, instance)
  )
}

/** Whether the run goes on in another replay, so that work that stops now has not ended. */
export const isLeft = ({
  instance,
  scope,
  stopping,
  taken
}: Pick<Replay, "instance" | "scope" | "stopping" | "taken">): boolean =>
  !instance.interrupted && !stopping.isSo && (instance.suspended || taken.isSo || scope.state._tag === "Closed")

/** Fails a run whose wait was over before, but whose row with the end of the wait is gone. Without this check the run would wait again. */
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

/** How long a step may wait for its engine before its row is checked: the first time, and at most between later checks. */
const first = Duration.seconds(10)
const longest = Duration.minutes(1)

/**
 * Fails a run if the stored reply of one of its steps is gone. The engine counts such a step as done, and waits for the reply for ever;
 * only the storage shows the gap.
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
        // from now on, the steps under way record nothing
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
