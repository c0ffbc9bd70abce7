/** Deferred calls whose run goes on, as their run sees them. */
import type * as Effect from "effect/Effect"
import type { LateEnd } from "./CallSite.ts"
import type { Outcome } from "./outcome.ts"
import type * as Message from "../data/Message.ts"
import type { LateCheckpoint } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Waiting } from "../event/Snapshot.ts"

/** A call that a run has left at work. */
export type OpenCall = Extract<Waiting, { readonly type: "deferred" }>

/** Asks the rows of such a call. */
export type Rows = (checkpoint: LateCheckpoint, settlement: LateEnd["settlement"]) => Effect.Effect<Outcome, unknown>

/** The calls of a run that are settled, and whose results are to come. */
export interface LateCalls {
  readonly isEmpty: boolean
  /** Whether a run with an answer may end without them: none of them is one that it waits for. */
  readonly mayStayOpen: boolean
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
  readonly detach: Effect.Effect<ReadonlyArray<OpenCall>>
  /** For the snapshot of the run. */
  readonly checkpoints: () => ReadonlyArray<LateCheckpoint>
  /** The run is suspended: until it goes on, no settlement counts. */
  readonly suspend: () => void
}
