/** Notes that a run was begun. The engine alone does not tell a run at work from an unknown one. */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as DoorError from "@kintsugi/core/DoorError"
import { UnknownRunError } from "./errors.ts"
import { demandRow } from "./losing.ts"

/** The row that is stored when a run begins. An engine does not tell a run at work from an unknown one. */
const Begun = DurableDeferred.make("begun")

export const knowing = (self: Workflow.Any, executionId: string): Effect.Effect<void, never, WorkflowEngine> => {
  const token = DurableDeferred.tokenFromExecutionId(Begun, { workflow: self, executionId })
  return DurableDeferred.done(Begun, { token, exit: Exit.void })
}

export const demanding = (
  self: Workflow.Any,
  executionId: string
): Effect.Effect<void, UnknownRunError | DoorError.RunLostError, WorkflowEngine> =>
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine
    const instance = WorkflowInstance.initial(self, executionId)
    const begun = yield* Effect.provideService(engine.deferredResult(Begun), WorkflowInstance, instance)
    if (Option.isNone(begun)) return yield* Effect.fail(UnknownRunError.make({ workflow: self._tag, executionId }))
    yield* demandRow(self, executionId)
  })

/** Whether a run has ended. An end that the schemas cannot read counts too. */
export const isOver = (
  { poll }: WorkflowEngine["Service"],
  workflow: Workflow.Any,
  executionId: string
): Effect.Effect<boolean> => {
  // cast: for `poll`, an engine reads only the name and the schemas of a workflow
  const result = poll(workflow as never, executionId) as unknown as Effect.Effect<
    Option.Option<{ readonly _tag: string }>
  >
  const found = Effect.map(result, (one) => Option.isSome(one) && one.value._tag === "Complete")
  return Effect.catchDefect(found, () => Effect.succeed(true))
}
