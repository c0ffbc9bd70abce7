/**
 * The rows of the log of a run. Each row is a batch of events. The batches are numbered in the order of writing: the first batch that any
 * process stores under a number keeps the number. The rows belong to the run, and are deleted with its other rows.
 */
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { AgentEvent } from "@kintsugi/core"
import * as Bounds from "@kintsugi/core/Bounds"
import * as Issue from "@kintsugi/core/Issue"
import { unreadable, UnreadableStepError } from "./errors.ts"

/** A batch of events that were written together, as one row. */
export type Batch = typeof Batch.Type

const Batch = Schema.Struct({
  /** The id of the process that has written the batch. */
  writer: Schema.String,
  /** How often the run was resumed or taken over by another process, counted from 1. */
  epoch: Schema.Finite,
  /** The number of the first event in its epoch, counted from 1. */
  first: Schema.Finite,
  events: Schema.Array(Schema.Json),
  /**
   * `takeover`: the events of the batch retract what a crash cut off, and no replay emits them again. `full`: the log has reached its
   * limit, and ends here.
   */
  kind: Schema.optionalKey(Schema.Literals(["takeover", "full"])),
  /** The indices of events that no replay emits again, because they say what becomes of a text that a crash cut off. */
  unreplayed: Schema.optionalKey(Schema.Array(Schema.Finite)),
  /** The ids of the runs that would continue their text in this batch if a crash cut it off. */
  continuing: Schema.optionalKey(Schema.Array(Schema.String))
})

const decodeBatch = Schema.decodeUnknownEffect(Batch)

const rowOf = (nth: number) => DurableDeferred.make(`events/${nth}`, { success: Schema.Json })

/** The run that a log belongs to. */
export interface Of {
  readonly engine: WorkflowEngine["Service"]
  readonly workflow: Workflow.Any
  readonly executionId: string
}

/** Reads the batch with this number, counted from 0; `undefined` if there is none. */
export const batchAt = (
  { engine, executionId, workflow }: Of,
  nth: number
): Effect.Effect<Batch | undefined, UnreadableStepError> =>
  engine.deferredResult(rowOf(nth)).pipe(
    Effect.provideService(WorkflowInstance, WorkflowInstance.initial(workflow, executionId)),
    Effect.flatMap((found) =>
      Option.isNone(found) || Exit.isFailure(found.value) ? Effect.undefined : decodeBatch(found.value.value)
    ),
    Effect.catchIf(Schema.isSchemaError, ({ issue }) =>
      Effect.fail(
        UnreadableStepError.make({
          workflow: workflow._tag,
          executionId,
          step: `events/${nth}`,
          ...unreadable(Issue.fromSchema(issue, undefined)[0])
        })
      )
    )
  )

/** Writes a batch, unless the number has a batch already. Returns the batch that is stored under the number. */
export const write = (
  of: Of,
  instance: WorkflowInstance["Service"],
  nth: number,
  batch: Batch
): Effect.Effect<Batch | undefined, UnreadableStepError> => {
  const { engine, executionId, workflow } = of
  const token = DurableDeferred.tokenFromExecutionId(rowOf(nth), { workflow, executionId })
  // cast: all fields of a batch are JSON
  const value = batch as unknown as Schema.Json
  return DurableDeferred.succeed(rowOf(nth), { token, value }).pipe(
    Effect.provideService(WorkflowEngine, engine),
    // with the instance of the run, the engine does not wake the run because of the row that it writes itself
    Effect.provideService(WorkflowInstance, instance),
    Effect.andThen(batchAt(of, nth))
  )
}

const encodeEvent = Schema.encodeUnknownExit(AgentEvent.AgentEvent)
const decodeEvent = Schema.decodeUnknownOption(AgentEvent.AgentEvent)

/** The deepest nesting of an event that a row may have. The engine writes rows recursively, and would retry a deeper one for ever. */
const deepest = 1100

/** Encodes an event as JSON; `undefined` if it does not fit its schema or is nested too deeply for a row. */
export const encoded = (event: AgentEvent.AgentEvent): Schema.Json | undefined => {
  const exit = encodeEvent(event)
  return Exit.isSuccess(exit) && !Bounds.isDeeper(exit.value, deepest) ? exit.value : undefined
}

export const decoded = (json: Schema.Json): AgentEvent.AgentEvent | undefined =>
  Option.getOrUndefined(decodeEvent(json))

/**
 * Reads a stored event without decoding it. Run, call, type, attempt and text are the same in JSON, and callers read no other field of it.
 * `undefined` if it has no run id or no type.
 */
export const undecoded = (json: Schema.Json): AgentEvent.AgentEvent | undefined =>
  textOf(json, "runId") === "" || textOf(json, "type") === "" ? undefined : (json as unknown as AgentEvent.AgentEvent)

/** Reads a text field of an event in JSON; empty if the event has no such text. */
export const textOf = (json: Schema.Json, key: string): string => {
  const value = Predicate.hasProperty(json, key) ? json[key] : undefined
  return Predicate.isString(value) ? value : ""
}
