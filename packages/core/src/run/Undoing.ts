/** What a failed run does about what its tools have done. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import { untouchable } from "../recovery/Layer.ts"
import type { Effected } from "../event/RunContext.ts"

/**
 * When a run fails, undoes what was done in this run and below it, the last thing first, each at most once; then the run fails as it
 * would have. A compensation that fails or dies is emitted and logged; the others are done all the same, and the run keeps its failure.
 */
export const undoing =
  (run: RunContext.RunContext) =>
  <A, E, R>(working: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchCause(working, (cause) => {
      const first = untouchable(cause) === undefined ? run.done.take() : undefined
      return first === undefined ? Effect.failCause(cause) : Effect.andThen(undo(run, first), Effect.failCause(cause))
    })

const undo = Effect.fnUntraced(function* (run: RunContext.RunContext, first: Effected): Effect.fn.Return<void> {
  for (let one: Effected | undefined = first; one !== undefined; one = run.done.take()) {
    const { callId, key, tool, undo: compensation } = one
    const exit: Exit.Exit<void, unknown> = yield* Effect.exit(
      Interception.step<void, unknown, never>(
        () => ({ kind: "compensation", tool, callId, idempotencyKey: key }),
        () => compensation
      )
    )
    if (Exit.isSuccess(exit)) {
      yield* RunContext.emit(run, () => ({ type: "tool-compensated", callId, tool, key }))
      continue
    }
    // no typed failure is left in a cause that is passed on
    if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>)
    const error = Cause.squash(exit.cause)
    yield* Effect.logWarning(
      `What tool '${tool}' has done could not be undone, key '${key}'`,
      ErrorCause.logged(exit.cause)
    )
    yield* RunContext.emit(run, () => ({ type: "tool-compensated", callId, tool, key, error }))
  }
})
