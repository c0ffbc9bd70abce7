/** What one run of an agent may cost, as the agent says it of itself. */
import * as Predicate from "effect/Predicate"

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
