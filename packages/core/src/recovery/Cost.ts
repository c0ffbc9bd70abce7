/** The worst-case cost of one run of an agent. `Recovery.explain` uses it for agents that are fixers, compactions or tools. */
import * as Predicate from "effect/Predicate"
import type { Plan } from "./plan.ts"

/** The property under which an agent stores its `Estimated`. `explain` reads it from an agent that is a fixer or the `run` of a tool. */
export const Cost: unique symbol = Symbol.for("~@kintsugi/core/Cost")

export interface Cost {
  readonly modelCalls: number
  /** The most model calls in one turn: those of the agent itself, or of an agent that it starts. */
  readonly perTurn: number
  /** Milliseconds of waits and timeouts. */
  readonly millis: number
}

export const free: Cost = { modelCalls: 0, perTurn: 0, millis: 0 }

/**
 * Computes the cost of an agent from its plan. `explain` passes this function to the agent, so a bundle without `explain` does not contain
 * the code.
 */
export type Estimate = (plan: Plan) => Cost

/** The function that an agent stores under `Cost`: it applies an `Estimate` to the agent's plan. */
export type Estimated = (estimate: Estimate) => Cost

/** The worst-case cost of one run of `agent`; `free` if `agent` stores no estimate. */
export const costOf = (agent: unknown, estimate: Estimate): Cost =>
  // only agents have this property
  Predicate.hasProperty(agent, Cost) ? (agent[Cost] as Estimated)(estimate) : free
