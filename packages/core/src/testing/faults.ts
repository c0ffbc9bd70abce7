/** The steps of programs, and what can go wrong at a step. */
import type * as Duration from "effect/Duration"
import type * as Interception from "../model/Interception.ts"

/** What goes wrong at a step. */
export type Fault =
  /** Fails instead of the step; `make` gives the failure, by default the failure of the step's kind. */
  | { readonly type: "error"; readonly make?: (step: FaultStep) => unknown }
  /** Dies instead of the step. */
  | { readonly type: "defect" }
  /** The step begins later by this duration. */
  | { readonly type: "latency"; readonly by: Duration.Duration }
  /** The whole program is interrupted; see `When`. */
  | { readonly type: "interruption"; readonly when: When }

/**
 * When an interruption comes. `before`: instead of the step, or in the middle of a wait. `within`: as soon as the step waits. `after`: when
 * the step is complete, and its result is lost.
 */
export type When = "before" | "within" | "after"

/**
 * A step that a program reached.
 *
 * @hidden
 */
export interface FaultStep {
  /** Counted from 1. */
  readonly number: number
  readonly type: Interception.InterceptedStep["type"] | "wait"
  /** A text that distinguishes the step from others of its kind. */
  readonly name: string
  /** Milliseconds, by the clock of the program. */
  readonly at: number
  /** The agent whose run takes the step; `undefined` outside of runs. */
  readonly agent: string | undefined
  readonly runId: string | undefined
  readonly turn: number
  /** The step as interceptors get it; `undefined` for waits. */
  readonly of: Interception.InterceptedStep | undefined
}
