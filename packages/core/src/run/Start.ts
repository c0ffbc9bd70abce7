/** Where a run begins: with an input, with a conversation, or where another run was suspended. */
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Approval from "../data/Approval.ts"
import type * as Budget from "../budget/Budget.ts"
import type { SnapshotRefusedError } from "../errors/DoorError.ts"
import { genuine } from "../event/Genuine.ts"
import type * as Message from "../data/Message.ts"
import type { Audience } from "../data/Signing.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type { Decisions, Suspendable } from "../tool/ToolDefinition.ts"

/**
 * Goes on where a run was suspended, or after a transcript.
 *
 * @hidden
 */
export interface Resumption<out I> {
  /** Calls that are settled in it never run again. */
  readonly from: Snapshot | Message.Transcript
  /** What the user says next. While calls of the snapshot wait, it is said as with `say`. */
  readonly input?: I
  /**
   * Messages of the user: a text, a message, or several. The decisions are applied first; the run reads the messages at its next safe point. If calls still wait, the run is
   * suspended again, with the messages in `inbox` of its snapshot. A message with `supersede` withdraws these calls instead.
   */
  readonly say?: string | Saying | ReadonlyArray<Saying>
  /** Decisions about the requests of the snapshot. A decision about another request, or a late one, does not count. */
  readonly decisions?: ReadonlyArray<Approval.Decided>
  /**
   * Settlements of deferred calls that the snapshot waits for, see `Snapshot.waitingOf` and `Tool.settle`. The first one for a token counts;
   * one for another token, or after the deadline, does not. One that does not fit its tool is refused. Calls without one keep waiting.
   */
  readonly settlements?: ReadonlyArray<{ readonly token: string; readonly exit: Exit.Exit<unknown, unknown> }>
  /**
   * Limits that replace those of the suspended run, or the agent's own. All others stay, prices and extensions by
   * `onBudgetExceeded` included.
   */
  readonly budget?: Budget.Limits
  /**
   * What becomes of an `incomplete` message at the end of the conversation. By default it stays, and the model is asked for the whole answer
   * (`keep`). With `continue`, the model goes on from it, if it declares a `continuation`; with `drop`, it leaves the conversation. New
   * input, or a message, stands behind it: then it is kept or dropped.
   */
  readonly incomplete?: "keep" | "continue" | "drop"
  /**
   * For whom the decisions were signed, see `Snapshot.signDecision`; by default the audience with which `Snapshot.fromJson` has read
   * the snapshot. Another audience than that is refused.
   */
  readonly audience?: Audience
  /**
   * Resumes a snapshot a second time, for example after a failure or an interruption. The idempotency keys of calls stay the
   * same. By default the second resumption is refused.
   */
  readonly repeat?: boolean
}

/** A message of the user to a run that goes on. */
export interface Saying {
  readonly message: string | Message.UserContent
  /** Withdraws the open requests of the run: their calls are not run. */
  readonly supersede?: boolean
}

/** Refuses to go on, before there is a run. */
export type Admit = (agent: Suspendable, resumption: Resumption<unknown>) => Effect.Effect<void, SnapshotRefusedError>

export type Start = { readonly kind: "input"; readonly input: unknown } | Resuming

interface Resuming extends Pick<Resumption<unknown>, "from" | "input" | "say" | "budget"> {
  readonly kind: "resumption"
  /** Absent for a sub-agent that goes on although its parent was not suspended. */
  readonly decisions: Decisions | undefined
}

/** A run that ends neither with an answer nor with a failure: it waits. */
export class Suspension {
  readonly snapshot: Snapshot
  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
    genuine.set(snapshot, undefined)
  }
}
