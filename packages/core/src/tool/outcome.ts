/** What became of a call, and what is said of it. */
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"

/** What ends a run. Our own final errors take its transcript along; a user's leaves as itself, the very same object. */
export interface Failure {
  readonly error: unknown
  readonly isOurs: boolean
}

/** What ends a run as a success. */
export interface Output {
  readonly value: unknown
}

/** What became of a call. `failure`, or `output`, is what ends the run with it; the call is settled all the same. */
export interface Outcome {
  readonly settlement: Message.Settlement
  readonly failure?: Failure
  readonly output?: Output
  /** What later calls are to know of it. */
  readonly record: FailureHistory.CallOutcome
  /** It has to wait, and is not settled. */
  readonly checkpoint?: CallCheckpoint
  /** What was decided about it, if anything had to be. */
  readonly trail?: ReadonlyArray<Recovery.Decision>
}

/** How a call came to its settlement. */
export interface How {
  readonly recoveredBy?: string | undefined
  readonly signature?: string
  /** What a function of the user or a fixer says of the failure, where one of them says it. */
  readonly said?: string | undefined
  readonly wantsToolsOff?: boolean
  /** Whether the tool has succeeded, though the model may read otherwise. */
  readonly isSuccess?: boolean
  readonly trail?: ReadonlyArray<Recovery.Decision>
}
