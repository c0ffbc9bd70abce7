/** Where a run begins: with an input, with a conversation, or where another run was suspended. */
import type * as Exit from "effect/Exit"
import type * as Approval from "../data/Approval.ts"
import type * as Budget from "../budget/Budget.ts"
import { genuine } from "../event/Genuine.ts"
import type * as Message from "../data/Message.ts"
import type { Audience } from "../data/Signing.ts"
import type { Snapshot } from "../event/Checkpoint.ts"

/**
 * The input of `Agent.resume`: a snapshot or a transcript, with decisions, settlements and messages.
 *
 * @hidden
 */
export interface Resumption<out I> {
  /** The snapshot or transcript. Calls with a settlement in it never run again. */
  readonly from: Snapshot | Message.Transcript
  /** The next user message. While calls of the snapshot wait, it waits too, like a message of `say`. */
  readonly input?: I
  /**
   * Messages of the user: a text, a message, or several. The decisions are applied first; the run reads the messages at its next safe
   * point. If calls still wait, the run is suspended again, with the messages in `inbox` of its snapshot. A message with `supersede`
   * withdraws these calls instead.
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
   * What happens to an `incomplete` message at the end of the conversation. `keep`, the default: it stays, and the model writes the whole
   * answer. `continue`: the model goes on from it, if it declares a `continuation`. `drop`: it is removed. If new input or a message
   * follows it, it is kept or dropped.
   */
  readonly incomplete?: "keep" | "continue" | "drop"
  /**
   * The audience of the signed decisions, see `Snapshot.signDecision`. By default it is the audience with which `Snapshot.fromJson` read
   * the snapshot; another one is refused.
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

/** The end of a suspended run: neither an answer nor a failure. */
export class Suspension {
  readonly snapshot: Snapshot
  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
    genuine.set(snapshot, undefined)
  }
}
