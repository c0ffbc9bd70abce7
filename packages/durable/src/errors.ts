/** Errors of workflows: of their input and of their stored rows. Each names the run, its workflow and the field. */
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

/** The decision is for a run of another workflow, or of another version of this one. */
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

/** The input does not fit the `input` schema of its workflow. No run was started. */
export class UnfitInputError extends Schema.TaggedError<UnfitInputError>()("UnfitInputError", {
  message: Schema.String,
  /** The workflow, with its version. */
  workflow: Schema.String,
  /** The `id` that the run was to have. */
  id: Schema.String,
  /** The path in the payload of the part that does not fit, with dots between: `input`, or a field of it. */
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

/** The schema of a step cannot read its stored row: the row is corrupt, or the schema has changed. No step was repeated. */
export class UnreadableStepError extends Schema.TaggedError<UnreadableStepError>()("UnreadableStepError", {
  ...where,
  /** The name of the step. */
  step: Schema.String,
  /** The path in the stored row of the part that does not fit, with dots between; empty for the whole. */
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
 * A replay makes another request than the one that is stored under the same step: the agent has changed and its version has not, or
 * some of its code is not deterministic. No stored reply was given to another request.
 */
export class ChangedAgentError extends Schema.TaggedError<ChangedAgentError>()("ChangedAgentError", {
  ...where,
  /** The name of the step. */
  step: Schema.String
}) {
  readonly code = "KINTSUGI-DURABLE-CHANGED-AGENT"
  readonly isRetryable = false
  static of(workflow: string, executionId: string, step: string): ChangedAgentError {
    const what = `Step '${step}' of run '${executionId}' of workflow '${workflow}' was recorded for another request`
    const help = "Serve a changed agent under another version; what is not the same each time belongs into a tool"
    const message = `${what} than a replay makes. ${help}`
    return new ChangedAgentError({ message, workflow, executionId, step })
  }
}

/** The failures of a run that cannot be replayed. */
export type ReplayError = UnreadableStepError | ChangedAgentError | DoorError.RunLostError

export const ReplayError = Schema.Union([UnreadableStepError, ChangedAgentError, DoorError.RunLostError])

const isReplayError = Schema.is(ReplayError)

/** Within a run such an error is a defect, which no table sees; at the end of the run, it is its failure. */
export const asFailures = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | ReplayError, R> =>
  Effect.catchCause(self, (cause): Effect.Effect<never, E | ReplayError> => {
    for (const reason of cause.reasons) {
      if (Cause.isDieReason(reason) && isReplayError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })
