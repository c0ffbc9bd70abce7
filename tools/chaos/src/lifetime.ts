/** What is known of each process of the backend, and of its connections. */
import type { Measured } from "../../load/src/probe.ts"
import type { Link } from "./plan.ts"

/** What a process holds at some time. */
export interface Sample extends Omit<Measured, "cpu"> {
  readonly at: number
  readonly spans: number
}

/** A process from its start to its end. Times are in milliseconds by the clock of the machine. */
export interface Lifetime {
  readonly process: string
  readonly slot: number
  /** How wrong its clock is, in milliseconds. */
  readonly clock: number
  readonly begun: number
  readonly samples: Array<Sample>
  /** The signals that the plan has sent to it, in their order. */
  readonly sent: Array<"SIGKILL" | "SIGTERM">
  ended?: { readonly at: number; readonly how: number | NodeJS.Signals }
}

/** A connection that was cut. */
export interface Cutting {
  readonly slot: number
  readonly link: Link
  readonly at: number
}
