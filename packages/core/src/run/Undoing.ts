/** What a failed run does about what its tools have done. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import { untouchable } from "../recovery/Layer.ts"
import { ownerOf } from "./budget.ts"
import type { Effected } from "../event/Done.ts"

/**
 * When a run fails, undoes what was done in this run and below it, the last thing first, each at most once; then the run fails with
 * what `leaving` makes of its error. Where a limit of a run above was reached, that run does it when it fails. A compensation that
 * fails or dies is emitted and logged; the others are done all the same, and the run keeps its failure.
 */
export const undoing =
  (run: RunContext.RunContext, leaving: (error: unknown) => unknown) =>
  <A, E, R>(working: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
    Effect.catchCause(working, (cause): Effect.Effect<never, unknown> => {
      if (untouchable(cause) !== undefined) return Effect.failCause(cause)
      const error = Cause.squash(cause)
      const leaves = leaving(error)
      const failing = leaves === error ? Effect.failCause(cause) : Effect.fail(leaves)
      const owner = ownerOf(error, run)
      // the meter of a run without limits of its own is that of a run above
      if (owner !== undefined && owner.ledger !== run.ledger) return failing
      const first = run.done.take()
      return first === undefined ? failing : Effect.andThen(undo(run, first), failing)
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
