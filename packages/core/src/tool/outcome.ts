/** The outcome of a tool call, and how the call came to it. */
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import type { Answered } from "./Late.ts"
import type { VerdictRecord } from "../recovery/Node.ts"

/**
 * A failure that ends the run. A `ToolExecutionError` of this library (`isOurs`) gets the transcript of the run. An error of the user
 * leaves the run as the very same object.
 */
export interface Failure {
  readonly error: unknown
  readonly isOurs: boolean
}

/** A value with which a tool ends the run as a success. */
export interface Output {
  readonly value: unknown
}

/** The outcome of a call. `failure` or `output` ends the run; the call is settled all the same. */
export interface Outcome {
  readonly settlement: Message.Settlement
  readonly failure?: Failure
  readonly output?: Output
  /** The entry of the call in the failure history, for later calls. */
  readonly record: FailureHistory.CallOutcome
  /** The checkpoint of a call that waits and is not settled. */
  readonly checkpoint?: CallCheckpoint
  /** Set if the result of the call comes later. */
  readonly late?: NonNullable<Answered["late"]>
  /** The decisions of recovery about the call, if there are any. */
  readonly trail?: ReadonlyArray<VerdictRecord>
}

/** How a call came to its settlement. */
export interface How {
  readonly recoveredBy?: string | undefined
  readonly signature?: string
  /** The text of a user's function or a fixer about the failure, if there is one. */
  readonly said?: string | undefined
  readonly wantsToolsOff?: boolean
  /** Whether the tool has succeeded, though the model may read otherwise. */
  readonly isSuccess?: boolean
  readonly trail?: ReadonlyArray<VerdictRecord>
}
