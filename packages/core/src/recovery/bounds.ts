/** What bounds every call, whatever its tables say, and what an agent says of its own cost. */
import * as Predicate from "effect/Predicate"

/** Repair rounds that one call may take, over all rows and rungs. */
export const maxRepairRounds = 8

/**
 * Attempts that one call may take: a last bound, for tables whose own counts are absurd. Whatever would run it again
 * gives up there, and the next rung is asked.
 */
export const maxAttemptsPerCall = 10_000

/** How often the conversation may be shortened within one call of a model, over all rows and rungs, and all tables around it. */
export const maxCompactions = 2

/** Where an agent, as a fixer or as the run of a tool, says what one run of it may cost. */
export const Cost: unique symbol = Symbol.for("~@kintsugi/core/Cost")

export interface Cost {
  readonly modelCalls: number
  /** Of one of its turns, or of a turn of what it starts itself. */
  readonly perTurn: number
  /** Milliseconds of waits and timeouts. */
  readonly millis: number
}

export const free: Cost = { modelCalls: 0, perTurn: 0, millis: 0 }

/** What one run of an agent may cost; nothing where it does not say. */
export const costOf = (agent: unknown): Cost => {
  const cost = Predicate.hasProperty(agent, Cost) ? agent[Cost] : undefined
  // whoever has the mark is an agent
  return Predicate.isObject(cost) ? (cost as unknown as Cost) : free
}
