/** Deferred calls whose run goes on, as their run sees them. */
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Message from "../data/Message.ts"
import type { CallCheckpoint, LateCheckpoint } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Waiting } from "../event/Snapshot.ts"

/** A call that a run has left at work. */
export type LeftCall = Extract<Waiting, { readonly type: "deferred" }>

/** A deferred call whose run goes on. `Tool.deferred` brings it along, so a bundle without it has no such calls. */
export interface LateCall {
  readonly settlement: Message.Settlement
  /** Adds it to the others of its run; the checkpoint says how it goes on when it has ended. */
  readonly join: (others: LateCalls | undefined, checkpoint: CallCheckpoint) => LateCalls
}

/** The end of such a call. */
export interface LateEnd {
  readonly handle: LateCheckpoint["handle"]
  /** The settlement; absent if its deadline has passed. */
  readonly settlement: Exit.Exit<unknown, unknown> | undefined
}

/** Settles a call that has ended: its rows are asked of an end without a result. It may have begun anew: then `late` is set. */
export type Rows = (checkpoint: LateCheckpoint, settlement: LateEnd["settlement"]) => Effect.Effect<Answered, unknown>

/** What the model is to read of a call, unless it has begun anew. */
export interface Answered {
  readonly settlement: Message.Settlement
  readonly late?: { readonly call: LateCall; readonly checkpoint: CallCheckpoint }
}

/** The calls of a run that are settled, and whose results are to come. */
export interface LateCalls {
  readonly isEmpty: boolean
  /** Whether a run with an answer may end without them: none of them is one that it waits for. */
  readonly mayBeLeft: boolean
  /** Whether the result of one is there, or its deadline has passed. */
  readonly isDue: Effect.Effect<boolean>
  /** Waits until that is so of one that the run waits for. */
  readonly wait: (run: RunContext) => Effect.Effect<void>
  /**
   * Takes the messages about those that are over: first of what has expired, then of what has arrived. `rows` settles a call that has ended
   * without a result, and fails as the run does then.
   */
  readonly read: (run: RunContext, take: (message: Message.User) => void, rows: Rows) => Effect.Effect<void, unknown>
  /** Stops those without a result. */
  readonly withdraw: Effect.Effect<void>
  /** Leaves all at work, and gives them: the run takes no settlement any more. */
  readonly detach: Effect.Effect<ReadonlyArray<LeftCall>>
  /** For the snapshot of the run. */
  readonly checkpoints: () => ReadonlyArray<LateCheckpoint>
  /** The run is suspended: until it goes on, no settlement counts. */
  readonly suspend: () => void
}
