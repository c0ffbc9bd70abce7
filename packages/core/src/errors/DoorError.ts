/** The errors of functions that take data from outside. Among agents, only a resumed one has them in its `E`. */
import * as Schema from "effect/Schema"
import { advised } from "./advised.ts"
import { type Defaulted, type Made, sentence } from "./sentence.ts"

const units = { depth: "levels", nodes: "nodes", bytes: "bytes" } as const

const ofInput = {
  message: Schema.String,
  /** The schema or value that is too large, with the names of its tool and server. */
  what: Schema.String,
  /** The exceeded bound, by the name of its option. */
  bound: Schema.Literals(["depth", "nodes", "bytes"]),
  /** In levels, nodes or bytes. */
  limit: Schema.Finite
}

/**
 * A schema or a value from outside exceeds a bound (`Bounds`). It was not expanded. In a tool call, this error is the cause of an
 * `ExecutionError`.
 */
export class InputTooLargeError extends advised<InputTooLargeError>()("InputTooLargeError", ofInput) {
  /** Makes the error. `what` is the subject of the message's sentence. */
  static override make(fields: Defaulted<Schema.Struct.Type<typeof ofInput>, "message">): InputTooLargeError {
    const { bound, limit, what } = fields
    const beyond = `${what} is beyond the bound of ${limit} ${units[bound]}`
    const message = sentence("InputTooLargeError", { what: beyond, where: [bound] })
    return new InputTooLargeError({ message, ...fields })
  }
}

const ofRun = {
  message: Schema.String,
  /** The id of the run in its workflow engine. */
  executionId: Schema.String
}

/** The stored rows of a durable run have gaps. The run does not go on, because the record of what it did is incomplete. */
export class RunLostError extends advised<RunLostError>()("RunLostError", ofRun) {
  /** `what` names the missing rows, as the subject of a sentence. */
  static override make({ what = "a row", ...fields }: Made<typeof ofRun>): RunLostError {
    const lost = `Run '${fields.executionId}' is lost: ${what} is gone from its storage`
    return new RunLostError({ message: sentence("RunLostError", { what: lost }), ...fields })
  }
}

const ofSnapshot = {
  message: Schema.String,
  reason: Schema.Literals(["unsigned", "bad-signature", "unknown-key", "already-resumed", "other-agent", "malformed"])
}

/** The snapshot, or a decision about its requests, is refused. No step of the run has begun. */
export class SnapshotRefusedError extends advised<SnapshotRefusedError>()("SnapshotRefusedError", ofSnapshot) {
  /** Makes the error. `what` is a clause that names the snapshot or the decision, and its fault. */
  static override make({ what = "The snapshot is refused", ...fields }: Made<typeof ofSnapshot>): SnapshotRefusedError {
    const message = sentence("SnapshotRefusedError", { what, where: [fields.reason] })
    return new SnapshotRefusedError({ message, ...fields })
  }
}

const ofOver = {
  message: Schema.String,
  /** Empty if the run never began. */
  runId: Schema.String
}

/** The run has ended, is suspended, or does not exist. Nothing was said to it. */
export class RunOverError extends advised<RunOverError>()("RunOverError", ofOver) {
  static override make({ what, ...fields }: Made<typeof ofOver>): RunOverError {
    const over = what ?? `Run '${fields.runId}' is not at work`
    return new RunOverError({ message: sentence("RunOverError", { what: over }), ...fields })
  }
}

const ofInbox = {
  message: Schema.String,
  runId: Schema.String,
  /** How many messages may wait. */
  limit: Schema.Finite
}

/** The run's inbox is full: the message was not added. */
export class InboxFullError extends advised<InboxFullError>()("InboxFullError", ofInbox) {
  static override make({ what, ...fields }: Made<typeof ofInbox>): InboxFullError {
    const full = what ?? `The inbox of run '${fields.runId}' is full: ${fields.limit} messages wait`
    return new InboxFullError({ message: sentence("InboxFullError", { what: full }), ...fields })
  }
}

const ofCursor = {
  message: Schema.String,
  /** The oldest cursor that a reader can still go on at. Empty if the run never began. */
  oldest: Schema.String,
  /**
   * Why the cursor fails. `expired`: its events are deleted, or are from before the last resumption of the run. `malformed`: the text is no
   * cursor. `other-run`: it is a cursor of another run. `unknown`: no event of the run has it.
   */
  reason: Schema.optionalKey(Schema.Literals(["expired", "malformed", "other-run", "unknown"]))
}

const withCursor = {
  expired: "The events behind the cursor are gone",
  malformed: "The text is no cursor",
  "other-run": "The cursor is of another run",
  unknown: "No event of the run has this cursor"
} as const

/** The events after a reader's cursor are gone. They are deleted, or the cursor is that of another run; `reason` says which. */
export class CursorExpiredError extends advised<CursorExpiredError>()("CursorExpiredError", ofCursor) {
  static override make({ reason = "expired", what, ...fields }: Made<typeof ofCursor>): CursorExpiredError {
    const message = sentence("CursorExpiredError", { what: what ?? withCursor[reason] })
    return new CursorExpiredError({ message, reason, ...fields })
  }
}

/** The errors of data from outside. */
export type DoorError =
  | InputTooLargeError
  | RunLostError
  | SnapshotRefusedError
  | RunOverError
  | InboxFullError
  | CursorExpiredError

/** The schema of all door errors. It decodes each error to its own class. */
export const DoorError: Schema.Codec<DoorError, unknown> = Schema.Union([
  InputTooLargeError,
  RunLostError,
  SnapshotRefusedError,
  RunOverError,
  InboxFullError,
  CursorExpiredError
])
