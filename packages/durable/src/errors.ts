/** The errors of durable workflows: about their input and about their stored rows. Each error names the workflow, the run and the field. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as DoorError from "@kintsugi/core/DoorError"
import * as Issue from "@kintsugi/core/Issue"

const where = {
  message: Schema.String,
  /** The name of the workflow, with its version. */
  workflow: Schema.String,
  executionId: Schema.String
}

/** The argument of `make`: the fields of an error. If `message` is absent, it is composed of the other fields. */
type Made<F extends Schema.Struct.Fields> = Omit<Schema.Struct.Type<F>, "message"> & { readonly message?: string }

/** The first field that does not fit a schema, and what was expected there. */
const fieldOf = (expected: string) => (issue: Issue.Issue | undefined) => ({
  field: issue?.path.join(".") ?? "",
  expected: issue?.expected ?? expected
})

const unfit = fieldOf("Expected what the workflow takes")

export const unreadable = fieldOf("Expected what the step gives")

/** The workflow has no such run. `start` did not start it, and no process has begun it. */
export class UnknownRunError extends Schema.TaggedError<UnknownRunError>()("UnknownRunError", where) {
  readonly code = "KINTSUGI-DURABLE-UNKNOWN-RUN"
  readonly isRetryable = false
  static override make(fields: Made<typeof where>): UnknownRunError {
    const what = `Workflow '${fields.workflow}' has no run '${fields.executionId}'`
    return new UnknownRunError({ message: `${what}. Was it started under another name, version or id?`, ...fields })
  }
}

const otherFields = {
  ...where,
  /** The name of the workflow, with its version, under which the run was started. */
  startedAs: Schema.String
}

/** The decision is for a run of another workflow or version. */
export class OtherWorkflowError extends Schema.TaggedError<OtherWorkflowError>()("OtherWorkflowError", otherFields) {
  readonly code = "KINTSUGI-DURABLE-OTHER-WORKFLOW"
  readonly isRetryable = false
  static override make(fields: Made<typeof otherFields>): OtherWorkflowError {
    const { executionId, startedAs, workflow } = fields
    const what = `Run '${executionId}' was started as '${startedAs}', and not as '${workflow}'`
    return new OtherWorkflowError({ message: `${what}. Ask the workflow of that name and version`, ...fields })
  }
}

const inputFields = {
  message: Schema.String,
  /** The name of the workflow, with its version. */
  workflow: Schema.String,
  /** The `id` of the run that was not started. */
  id: Schema.String,
  /** The path of the part that does not fit in the payload, with dots between: `input`, or a field of it. */
  field: Schema.String,
  expected: Schema.String
}

/** The input does not fit the `input` schema of its workflow. No run was started. */
export class UnfitInputError extends Schema.TaggedError<UnfitInputError>()("UnfitInputError", inputFields) {
  readonly code = "KINTSUGI-DURABLE-UNFIT-INPUT"
  readonly isRetryable = false
  static override make(fields: Made<typeof inputFields>): UnfitInputError {
    const { expected, field, id, workflow } = fields
    const part = field === "" ? "" : ` '${field}'`
    const message = `Workflow '${workflow}' cannot start '${id}' with this${part}: ${expected}`
    return new UnfitInputError({ message, ...fields })
  }
}

/** The payload of a run, if it fits the schema of its workflow. */
export const fitting = <A>(
  workflow: { readonly _tag: string; readonly payloadSchema: Payload<A> },
  payload: { readonly id: string }
): Effect.Effect<A, UnfitInputError> =>
  Effect.mapError(workflow.payloadSchema.makeEffect(payload), (issue) =>
    UnfitInputError.make({
      workflow: workflow._tag,
      id: payload.id,
      ...unfit(Issue.fromSchema(issue, payload)[0])
    })
  )

/** The part of a schema that checks what is given. */
interface Payload<A> {
  // a method, so that a schema fits whose type is a parameter
  makeEffect(given: unknown): Effect.Effect<A, SchemaIssue>
}

type SchemaIssue = Parameters<typeof Issue.fromSchema>[0]

const rowFields = {
  ...where,
  /** The name of the step. */
  step: Schema.String,
  /** The path of the part that does not fit in the stored row, with dots between; empty for the whole row. */
  field: Schema.String,
  expected: Schema.String
}

/** A stored row does not fit the schema of its step. The row is corrupt, or the schema has changed. No step was repeated. */
export class UnreadableStepError extends Schema.TaggedError<UnreadableStepError>()("UnreadableStepError", rowFields) {
  readonly code = "KINTSUGI-DURABLE-UNREADABLE-STEP"
  readonly isRetryable = false
  static override make(fields: Made<typeof rowFields>): UnreadableStepError {
    const { executionId, expected, field, step, workflow } = fields
    const what = `What is stored of step '${step}' of run '${executionId}' of workflow '${workflow}' cannot be read`
    const why = "The row is corrupt, or the agent has changed under the same version"
    const message = `${what}${field === "" ? "" : ` at '${field}'`}: ${expected}. ${why}`
    return new UnreadableStepError({ message, ...fields })
  }
}

const stepFields = {
  ...where,
  /** The name of the step. */
  step: Schema.String
}

/**
 * A replay makes another request than the stored one. The agent has changed and its version has not, or some of its code is not
 * deterministic. No stored reply was given to another request.
 */
export class ChangedAgentError extends Schema.TaggedError<ChangedAgentError>()("ChangedAgentError", stepFields) {
  readonly code = "KINTSUGI-DURABLE-CHANGED-AGENT"
  readonly isRetryable = false
  static override make(fields: Made<typeof stepFields>): ChangedAgentError {
    const { executionId, step, workflow } = fields
    const what = `Step '${step}' of run '${executionId}' of workflow '${workflow}' was recorded for another request`
    const help =
      "Serve a changed agent under another version, or give its workflow a migration; what is not the same each time belongs into a tool"
    const message = `${what} than a replay makes. ${help}`
    return new ChangedAgentError({ message, ...fields })
  }
}

const migrationFields = {
  ...rowFields,
  /** The name of the tool of the recorded call, as the failed migration got it. */
  tool: Schema.String
}

/**
 * A migration cannot migrate a recorded call: its function threw, it gave parameters that the current tool refuses, or the current tool
 * would take arguments that the earlier one has refused. `field` is the path in the arguments. No step was repeated.
 */
export class MigrationError extends Schema.TaggedError<MigrationError>()("MigrationError", migrationFields) {
  readonly code = "KINTSUGI-DURABLE-MIGRATION"
  readonly isRetryable = false
  static override make(fields: Made<typeof migrationFields>): MigrationError {
    const { executionId, expected, field, step, tool, workflow } = fields
    const what = `A call of '${tool}', recorded by step '${step}' of run '${executionId}' of workflow '${workflow}'`
    const message = `${what}, cannot be migrated${field === "" ? "" : ` at '${field}'`}: ${expected}`
    return new MigrationError({ message, ...fields })
  }
}

/** The failures of a run that cannot be replayed. Its stored steps cannot be read, or are not those of the agent. */
export type ReplayError = UnreadableStepError | ChangedAgentError | MigrationError | DoorError.RunLostError

export const ReplayError = Schema.Union([
  UnreadableStepError,
  ChangedAgentError,
  MigrationError,
  DoorError.RunLostError
])

const isReplayError = Schema.is(ReplayError)

/** Turns a replay error at the end of a run into a failure of the run. Within the run the error is a defect, which no table handles. */
export const asFailures = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | ReplayError, R> =>
  Effect.catchCause(self, (cause): Effect.Effect<never, E | ReplayError> => {
    for (const reason of cause.reasons) {
      if (Cause.isDieReason(reason) && isReplayError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })
