/** What one run of an agent may cost, as the agent says it of itself to those who explain a policy. */
import * as Predicate from "effect/Predicate"
import type { Plan } from "./plan.ts"

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

/** Works out a cost. Those who explain bring it along: an agent that nobody explains does without. */
export type Estimate = (plan: Plan) => Cost

/** How an agent says its cost. */
export type Estimated = (estimate: Estimate) => Cost

/** What one run of an agent may cost; nothing where it does not say. */
export const costOf = (agent: unknown, estimate: Estimate): Cost =>
  // whoever has the mark is an agent
  Predicate.hasProperty(agent, Cost) ? (agent[Cost] as Estimated)(estimate) : free
