/** The types of a program's steps, and of the faults that can be injected at a step. */
import type * as Duration from "effect/Duration"
import type * as Interception from "../model/Interception.ts"

/** A fault that `FaultPlan` can inject at a step. */
export type Fault =
  /** Fails instead of running the step. `make` makes the failure; by default it is the usual failure of this kind of step. */
  | { readonly type: "error"; readonly make?: (step: FaultStep) => unknown }
  /** Dies instead of running the step. */
  | { readonly type: "defect" }
  /** Delays the start of the step. */
  | { readonly type: "latency"; readonly by: Duration.Duration }
  /** Interrupts the whole program, at the moment that `when` names. */
  | { readonly type: "interruption"; readonly when: When }

/**
 * When an interruption comes. `before`: instead of the step, or in the middle of a wait. `within`: when the step first waits. `after`: when
 * the step is complete, so that its result is lost.
 */
export type When = "before" | "within" | "after"

/**
 * A step that a program reached.
 *
 * @hidden
 */
export interface FaultStep {
  /** The number of the step in the program; the first step is 1. */
  readonly number: number
  readonly type: Interception.InterceptedStep["type"] | "wait"
  /** A text that distinguishes the step from other steps of its kind. */
  readonly name: string
  /** The time at which the program reached the step, in milliseconds of the program's clock. */
  readonly at: number
  /** The agent whose run takes the step; `undefined` outside of runs. */
  readonly agent: string | undefined
  readonly runId: string | undefined
  readonly turn: number
  /** The step as interceptors get it; `undefined` for waits, which are not intercepted. */
  readonly of: Interception.InterceptedStep | undefined
}
