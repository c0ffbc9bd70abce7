/** What a failed run does about what its tools have done. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import { ownerOf } from "./budget.ts"
import type { Effected } from "../event/Done.ts"

/**
 * Undoes what was done in this run and below it, the last thing first, each at most once; then fails as it would have. Where a limit
 * of a run above was reached, that one does it, when it fails. A compensation that fails or dies is emitted and logged; the others
 * are done all the same, and the run keeps its failure.
 */
export const before = (
  run: RunContext.RunContext,
  error: unknown,
  failing: Effect.Effect<never, unknown>
): Effect.Effect<never, unknown> => {
  const owner = ownerOf(error, run)
  // the meter of a run without limits of its own is that of a run above
  if (owner !== undefined && owner.ledger !== run.ledger) return failing
  const first = run.done.take()
  return first === undefined ? failing : Effect.andThen(undoing(run, first), failing)
}

const undoing = Effect.fnUntraced(function* (run: RunContext.RunContext, first: Effected): Effect.fn.Return<void> {
  for (let one: Effected | undefined = first; one !== undefined; one = run.done.take()) {
    const { callId, key, tool, undo } = one
    const exit: Exit.Exit<void, unknown> = yield* Effect.exit(
      Interception.step<void, unknown, never>(
        () => ({ kind: "compensation", tool, callId, idempotencyKey: key }),
        () => undo
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
