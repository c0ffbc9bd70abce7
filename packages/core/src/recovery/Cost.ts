/** The worst cost of one run of an agent. `Recovery.explain` reads it from the agents in a policy. */
import * as Predicate from "effect/Predicate"
import type { Plan } from "./plan.ts"

/** The key under which an agent keeps its `Estimated`: an agent is a fixer, or the run of a tool. */
export const Cost: unique symbol = Symbol.for("~@kintsugi/core/Cost")

export interface Cost {
  readonly modelCalls: number
  /** Model calls of one turn: the agent's own, or those of an agent that it starts. */
  readonly perTurn: number
  /** Milliseconds of waits and timeouts. */
  readonly millis: number
}

export const free: Cost = { modelCalls: 0, perTurn: 0, millis: 0 }

/** Computes a cost. `explain` passes it to the agent, so a bundle without `explain` does not contain it. */
export type Estimate = (plan: Plan) => Cost

/** What an agent keeps under `Cost`. */
export type Estimated = (estimate: Estimate) => Cost

/** The worst cost of one run of `agent`; `free` if `agent` keeps no estimate. */
export const costOf = (agent: unknown, estimate: Estimate): Cost =>
  // only agents have the key
  Predicate.hasProperty(agent, Cost) ? (agent[Cost] as Estimated)(estimate) : free
