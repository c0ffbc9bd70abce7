/** Leaves a run to a newer release, or to a newer version of its agent. */
import * as Workflow from "effect/workflow/Workflow"
import type { WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"

interface Left {
  readonly executionId: string
  readonly instance: WorkflowInstance["Service"]
}

/**
 * Suspends a run that a newer release or a newer version of its agent has recorded, because a replay here would damage it. It waits for a
 * process of that release or version.
 */
export const leave = ({ executionId, instance }: Left, why: string): Effect.Effect<never> => {
  const what = `Run '${executionId}' of workflow '${instance.workflow._tag}' was recorded by a newer release or a newer agent`
  const help = "It waits: serve its workflow by that release and agent, and wake the run by Durable.resume"
  return Effect.andThen(Effect.logError(`${what} (${why}). ${help}`), Workflow.suspend(instance))
}

/** Suspends a run that an agent with so many migrations has recorded. */
export const leaveToNewer = (
  replay: Left & { readonly migrations: ReadonlyArray<unknown> },
  revision: number
): Effect.Effect<never> => leave(replay, `${revision} migrations, this workflow has ${replay.migrations.length}`)
