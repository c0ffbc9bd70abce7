/**
 * The rows of the log of a run. Each is a batch of events, numbered in the order of writing: the first batch that is stored under a number has
 * it, in whichever process it was written. They are rows of the run, and are deleted with its other rows.
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

/** Events that were written together. */
export type Batch = typeof Batch.Type

const Batch = Schema.Struct({
  /** The process that has written it. */
  writer: Schema.String,
  /** Counts the resumptions and takeovers of the run, from 1. */
  epoch: Schema.Finite,
  /** The number of the first event in its epoch, counted from 1. */
  first: Schema.Finite,
  events: Schema.Array(Schema.Json),
  /** `takeover`: its events retract what a crash cut off, and no replay emits them. `full`: the log ends here. */
  kind: Schema.optionalKey(Schema.Literals(["takeover", "full"])),
  /** The indices of events that no replay emits: they say what becomes of a text that a crash cut off. */
  unreplayed: Schema.optionalKey(Schema.Array(Schema.Finite)),
  /** The runs that go on from their text in the batch if a crash cuts it off. */
  continuing: Schema.optionalKey(Schema.Array(Schema.String))
})

const decodeBatch = Schema.decodeUnknownEffect(Batch)

const rowOf = (nth: number) => DurableDeferred.make(`events/${nth}`, { success: Schema.Json })

/** The run whose log it is. */
export interface Of {
  readonly engine: WorkflowEngine["Service"]
  readonly workflow: Workflow.Any
  readonly executionId: string
}

/** The batch with this number, counted from 0; `undefined` if there is none. */
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

/** Writes a batch, unless there is one with this number. Returns the one that is stored. */
export const write = (
  of: Of,
  instance: WorkflowInstance["Service"],
  nth: number,
  batch: Batch
): Effect.Effect<Batch | undefined, UnreadableStepError> => {
  const { engine, executionId, workflow } = of
  const token = DurableDeferred.tokenFromExecutionId(rowOf(nth), { workflow, executionId })
  // what a batch is made of is JSON
  const value = batch as unknown as Schema.Json
  return DurableDeferred.succeed(rowOf(nth), { token, value }).pipe(
    Effect.provideService(WorkflowEngine, engine),
    // a run that writes its own rows is not woken by them
    Effect.provideService(WorkflowInstance, instance),
    Effect.andThen(batchAt(of, nth))
  )
}

const encodeEvent = Schema.encodeUnknownExit(AgentEvent.AgentEvent)
const decodeEvent = Schema.decodeUnknownOption(AgentEvent.AgentEvent)

/** An engine writes rows recursively, and retries for ever. */
const deepest = 1100

/** An event as JSON; `undefined` if no row can hold it. */
export const encoded = (event: AgentEvent.AgentEvent): Schema.Json | undefined => {
  const exit = encodeEvent(event)
  return Exit.isSuccess(exit) && !Bounds.isDeeper(exit.value, deepest) ? exit.value : undefined
}

export const decoded = (json: Schema.Json): AgentEvent.AgentEvent | undefined =>
  Option.getOrUndefined(decodeEvent(json))

/** The same for its place alone: run, call, type, attempt and text are the same in JSON, and nothing else of it may be read. */
export const undecoded = (json: Schema.Json): AgentEvent.AgentEvent | undefined =>
  textOf(json, "runId") === "" || textOf(json, "type") === "" ? undefined : (json as unknown as AgentEvent.AgentEvent)

/** A text of an event as JSON; empty if it has none. */
export const textOf = (json: Schema.Json, key: string): string => {
  const value = Predicate.hasProperty(json, key) ? json[key] : undefined
  return Predicate.isString(value) ? value : ""
}
