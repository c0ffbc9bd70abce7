/** Failures of single functions, where something enters from outside. No agent has them in its `E`. */
import * as Schema from "effect/Schema"
import { advised, type AdviceOf } from "./RecoveryAdvice.ts"
import { sentence } from "./sentence.ts"

/**
 * What is stored of a durable run has gaps: rows that were there are gone. The run does not go on, as nothing tells any more what was
 * done in it.
 */
export class RunLostError extends advised(
  "RunLostError",
  Schema.TaggedError<RunLostError, AdviceOf<"RunLostError">>()("RunLostError", {
    message: Schema.String,
    /** Of the run, as its engine knows it. */
    executionId: Schema.String
  })
) {
  /** `missing` says what is gone, as the subject of a sentence. */
  static of(executionId: string, missing: string): RunLostError {
    const what = `Run '${executionId}' is lost: ${missing} is gone from its storage`
    return new RunLostError({ executionId, message: sentence("RunLostError", { what }) })
  }
}

export type DoorError = RunLostError

/** The closed union, as a schema: decodes each error to its own class. */
export const DoorError: Schema.Codec<DoorError, unknown> = RunLostError

/** Whether a value is an error of a door. */
export const isDoorError: (value: unknown) => value is DoorError = Schema.is(DoorError)
