/** Failures of single functions, where something enters from outside. No agent has them in its `E`, but one that is resumed. */
import * as Schema from "effect/Schema"
import type { Exceeded } from "../data/Bounds.ts"
import { advised } from "./RecoveryAdvice.ts"
import { sentence } from "./sentence.ts"

const units = { depth: "levels", nodes: "nodes", bytes: "bytes" } as const

/**
 * A schema or a value from outside is beyond a bound (`Bounds`), and was not expanded. Beneath an `ExecutionError` where it was
 * about a tool's call.
 */
export class InputTooLargeError extends advised<InputTooLargeError>()("InputTooLargeError", {
  message: Schema.String,
  /** What is too large: it names the tool and the server that it came from. */
  what: Schema.String,
  /** The bound that it is beyond, by the name of its option. */
  bound: Schema.Literals(["depth", "nodes", "bytes"]),
  /** In levels, nodes or bytes. */
  limit: Schema.Finite
}) {
  /** `what` is the subject of a sentence. */
  static beyond(what: string, { bound, limit }: Exceeded): InputTooLargeError {
    const message = sentence("InputTooLargeError", {
      what: `${what} is beyond the bound of ${limit} ${units[bound]}`,
      where: [bound]
    })
    return new InputTooLargeError({ what, bound, limit, message })
  }
}

/**
 * What is stored of a durable run has gaps: rows that were there are gone. The run does not go on, as nothing tells any more what was
 * done in it.
 */
export class RunLostError extends advised<RunLostError>()("RunLostError", {
  message: Schema.String,
  /** Of the run, as its engine knows it. */
  executionId: Schema.String
}) {
  /** `missing` says what is gone, as the subject of a sentence. */
  static of(executionId: string, missing: string): RunLostError {
    const what = `Run '${executionId}' is lost: ${missing} is gone from its storage`
    return new RunLostError({ executionId, message: sentence("RunLostError", { what }) })
  }
}

/** A snapshot, or a decision about one of its requests, is not what a run may go on with. Nothing was run. */
export class SnapshotRefusedError extends advised<SnapshotRefusedError>()("SnapshotRefusedError", {
  message: Schema.String,
  reason: Schema.Literals(["unsigned", "bad-signature", "unknown-key", "already-resumed", "other-agent", "malformed"])
}) {
  /** `what` is a clause: it names the snapshot or the decision, and says what is wrong. */
  static of(reason: SnapshotRefusedError["reason"], what: string): SnapshotRefusedError {
    return new SnapshotRefusedError({ reason, message: sentence("SnapshotRefusedError", { what, where: [reason] }) })
  }
}

export type DoorError = InputTooLargeError | RunLostError | SnapshotRefusedError

/** The closed union, as a schema: decodes each error to its own class. */
export const DoorError: Schema.Codec<DoorError, unknown> = Schema.Union([
  InputTooLargeError,
  RunLostError,
  SnapshotRefusedError
])

/** Whether a value is an error of a door. */
export const isDoorError: (value: unknown) => value is DoorError = Schema.is(DoorError)
