/** Failures of single functions, where something enters from outside. No agent has them in its `E`, but one that is resumed. */
import * as Schema from "effect/Schema"
import type { Exceeded } from "../data/Bounds.ts"
import { advised, type AdviceOf } from "./RecoveryAdvice.ts"
import { sentence } from "./sentence.ts"

/** A snapshot, or a decision about one of its requests, is not what a run may go on with. Nothing was run. */
export class SnapshotRefusedError extends advised(
  "SnapshotRefusedError",
  Schema.TaggedError<SnapshotRefusedError, AdviceOf<"SnapshotRefusedError">>()("SnapshotRefusedError", {
    message: Schema.String,
    reason: Schema.Literals(["unsigned", "bad-signature", "unknown-key", "already-resumed", "other-agent"])
  })
) {
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
