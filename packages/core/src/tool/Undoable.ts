/** A call that its run may undo, and how. */
import type * as Effect from "effect/Effect"

/** A call that succeeded and is to be undone. */
export interface Undoable<out Params, out A> {
  /** The parameters and the result of the successful attempt. */
  readonly params: Params
  readonly result: A
  readonly callId: string
  /** The idempotency key of the call. A compensation that passes it on undoes the call once, even if the compensation runs twice. */
  readonly idempotencyKey: string
}

/** Undoes a call. Its failure is emitted, and is in the type of no run. */
export type Compensate<in Params, in A, out R> = (call: Undoable<Params, A>) => Effect.Effect<void, unknown, R>
