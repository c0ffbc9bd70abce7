/** What bounds every call, whatever its tables say, and what a fixer says of its own cost. */
import * as Predicate from "effect/Predicate"

/** Repair rounds that one call may take, over all rows and rungs. */
export const maxRepairRounds = 8

/**
 * Attempts that one call may take: a last bound, for tables whose own counts are absurd. Whatever would run it again
 * gives up there, and the next rung is asked.
 */
export const maxAttemptsPerCall = 10_000

/** Where a fixer says how many model calls one run of it may make. */
export const ModelCalls: unique symbol = Symbol.for("~@kintsugi/core/ModelCalls")

/** The model calls that one run of a fixer may make; `undefined` where it does not say. */
export const modelCallsOf = (fixer: unknown): number | undefined => {
  const calls = Predicate.hasProperty(fixer, ModelCalls) ? fixer[ModelCalls] : undefined
  return Predicate.isNumber(calls) ? calls : undefined
}
