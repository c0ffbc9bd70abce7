/**
 * The branches of an outline while it is built.
 *
 * @internal
 */
import type { Mark, Span } from "./Shapes.ts"

/** What a branch stands for. A `part` is one attempt, wait or repair of a call. A `group` is several healthy calls. */
export type Kind = "run" | "turn" | "model" | "call" | "group" | "part"

/** How a branch ended. `healed`: after a failure it went on. `tell`: the model read the failure. `lost`: recovery gave up. */
export type Health = "ok" | "healed" | "tell" | "lost"

/** A branch while the tree is built. */
export interface Growing {
  readonly kind: Kind
  readonly key: string
  parent: Growing | undefined
  children: Array<Growing>
  readonly items: Array<Span | Mark>
  main: Span | Mark | undefined
  from: number
  to: number
  waited: number
  health: Health
  /** Of a part that is an attempt: which attempt of its call it is, from 1. */
  attempt: number
  /** Of a part that waits for a person: the index of the event with the decision. */
  decided: number | undefined
}
