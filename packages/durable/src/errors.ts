/** What is wrong with what a workflow was given, or finds of itself. Each names the run, its workflow, and where. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as DoorError from "@kintsugi/core/DoorError"
import type * as Issue from "@kintsugi/core/Issue"

const where = {
  message: Schema.String,
  /** The workflow that was asked, with its version. */
  workflow: Schema.String,
  executionId: Schema.String
}

/** There is no such run of this workflow, or no process has taken it up yet and it was not started by `start`. */
export class UnknownRunError extends Schema.TaggedError<UnknownRunError>()("UnknownRunError", where) {
  readonly code = "KINTSUGI-DURABLE-UNKNOWN-RUN"
  readonly isRetryable = false
  static of(workflow: string, executionId: string): UnknownRunError {
    const message = `Workflow '${workflow}' has no run '${executionId}'. Was it started under another name, version or id?`
    return new UnknownRunError({ message, workflow, executionId })
  }
}

/** What is to be decided belongs to a run of another workflow, or of another version of this one. */
export class OtherWorkflowError extends Schema.TaggedError<OtherWorkflowError>()("OtherWorkflowError", {
  ...where,
  /** The workflow, with its version, under which the run was started. */
  startedAs: Schema.String
}) {
  readonly code = "KINTSUGI-DURABLE-OTHER-WORKFLOW"
  readonly isRetryable = false
  static of(workflow: string, executionId: string, startedAs: string): OtherWorkflowError {
    const what = `Run '${executionId}' was started as '${startedAs}', and not as '${workflow}'`
    const message = `${what}. Ask the workflow of that name and version`
    return new OtherWorkflowError({ message, workflow, executionId, startedAs })
  }
}

/** What a run was to be started with does not fit the `input` schema of its workflow. Nothing was started. */
export class UnfitInputError extends Schema.TaggedError<UnfitInputError>()("UnfitInputError", {
  message: Schema.String,
  /** The workflow, with its version. */
  workflow: Schema.String,
  /** The `id` that the run was to have. */
  id: Schema.String,
  /** From the root of the payload to what does not fit, with dots between: `input`, or a field of it. */
  field: Schema.String,
  expected: Schema.String
}) {
  readonly code = "KINTSUGI-DURABLE-UNFIT-INPUT"
  readonly isRetryable = false
  static of(workflow: string, id: string, issue: Issue.Issue | undefined): UnfitInputError {
    const field = issue?.path.join(".") ?? ""
    const expected = issue?.expected ?? "Expected what the workflow takes"
    const message = `Workflow '${workflow}' cannot start '${id}' with this${field === "" ? "" : ` '${field}'`}: ${expected}`
    return new UnfitInputError({ message, workflow, id, field, expected })
  }
}

/** What is stored of a step cannot be read by its schema: the row is corrupt, or the schema has changed. Nothing was run again. */
export class UnreadableStepError extends Schema.TaggedError<UnreadableStepError>()("UnreadableStepError", {
  ...where,
  /** The name of the step. */
  step: Schema.String,
  /** From the root of what is stored to what does not fit, with dots between; empty for the whole. */
  field: Schema.String,
  expected: Schema.String
}) {
  readonly code = "KINTSUGI-DURABLE-UNREADABLE-STEP"
  readonly isRetryable = false
  static of(workflow: string, executionId: string, step: string, issue: Issue.Issue | undefined): UnreadableStepError {
    const field = issue?.path.join(".") ?? ""
    const expected = issue?.expected ?? "Expected what the step gives"
    const what = `What is stored of step '${step}' of run '${executionId}' of workflow '${workflow}' cannot be read`
    const why = "The row is corrupt, or the agent has changed under the same version"
    const message = `${what}${field === "" ? "" : ` at '${field}'`}: ${expected}. ${why}`
    return new UnreadableStepError({ message, workflow, executionId, step, field, expected })
  }
}

/**
 * A replay asks for something else than what is stored under the same step: the agent has changed and its version has not, or
 * something in it is not the same each time. Nothing of what is stored was given to the wrong question.
 */
export class ChangedAgentError extends Schema.TaggedError<ChangedAgentError>()("ChangedAgentError", {
  ...where,
  /** The name of the step. */
  step: Schema.String
}) {
  readonly code = "KINTSUGI-DURABLE-CHANGED-AGENT"
  readonly isRetryable = false
  static of(workflow: string, executionId: string, step: string): ChangedAgentError {
    const what = `Step '${step}' of run '${executionId}' of workflow '${workflow}' was recorded for another question`
    const help = "Serve a changed agent under another version; what is not the same each time belongs into a tool"
    const message = `${what} than a replay asks. ${help}`
    return new ChangedAgentError({ message, workflow, executionId, step })
  }
}

/** How a run ends that cannot be replayed. */
export type ReplayError = UnreadableStepError | ChangedAgentError | DoorError.RunLostError

export const ReplayError = Schema.Union([UnreadableStepError, ChangedAgentError, DoorError.RunLostError])

const isReplayError = Schema.is(ReplayError)

/** Within a run such an error is a defect, which no table sees; where the run ends, it is its failure. */
export const asFailures = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | ReplayError, R> =>
  Effect.catchCause(self, (cause): Effect.Effect<never, E | ReplayError> => {
    for (const reason of cause.reasons) {
      if (Cause.isDieReason(reason) && isReplayError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })
