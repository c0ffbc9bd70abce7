/** Deferred calls whose run goes on without waiting for them, as the run sees them. */
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Message from "../data/Message.ts"
import type { CallCheckpoint, LateCheckpoint } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Waiting } from "../event/Snapshot.ts"

/** A deferred call whose work goes on after its run has ended. */
export type LeftCall = Extract<Waiting, { readonly type: "deferred" }>

/** A deferred call whose run goes on. `Tool.deferred` brings the code along, so a bundle without `Tool.deferred` is smaller. */
export interface LateCall {
  readonly settlement: Message.Settlement
  /** Adds the call to the late calls of its run. The checkpoint says how to go on with the call once its work has ended. */
  readonly join: (others: LateCalls | undefined, checkpoint: CallCheckpoint) => LateCalls
}

/** The end of a deferred call whose run has gone on. */
export interface LateEnd {
  readonly handle: LateCheckpoint["handle"]
  /** The result or failure of the work; absent if the deadline has passed. */
  readonly settlement: Exit.Exit<unknown, unknown> | undefined
}

/**
 * Settles a late call whose work has ended without a usable result: its rows decide. If a row begins the work anew, the answer has `late`.
 */
export type Rows = (checkpoint: LateCheckpoint, settlement: LateEnd["settlement"]) => Effect.Effect<Answered, unknown>

/** The settlement that the model reads of a late call. With `late`, the work has begun anew and there is nothing to read. */
export interface Answered {
  readonly settlement: Message.Settlement
  readonly late?: { readonly call: LateCall; readonly checkpoint: CallCheckpoint }
}

/** The calls of a run that were settled as `deferred` and whose results are still to come. */
export interface LateCalls {
  readonly isEmpty: boolean
  /** Whether a run that has its answer may end now: it waits for none of these calls. */
  readonly mayBeLeft: boolean
  /** Whether a call has its result, or has passed its deadline. */
  readonly isDue: Effect.Effect<boolean>
  /** Waits until a call for which the run waits has its result, or has passed its deadline. */
  readonly wait: (run: RunContext) => Effect.Effect<void>
  /**
   * Makes the messages about calls that are over: first about the expired ones, then about those with a result. `rows` settles a call that
   * has ended; if `rows` fails, the run fails.
   */
  readonly read: (run: RunContext, take: (message: Message.User) => void, rows: Rows) => Effect.Effect<void, unknown>
  /** Stops the work of all calls that have no result yet. */
  readonly withdraw: Effect.Effect<void>
  /** Returns all calls and leaves their work running. From then on no settlement counts for this run. */
  readonly detach: Effect.Effect<ReadonlyArray<LeftCall>>
  /** The checkpoints of all calls, for the snapshot of the run. */
  readonly checkpoints: () => ReadonlyArray<LateCheckpoint>
  /** Notes that the run is suspended: no settlement counts until it is resumed. */
  readonly suspend: () => void
}
