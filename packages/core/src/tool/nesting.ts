/** A sub-agent that is a tool is suspended together with the run that calls it, and goes on with it. */
import type * as Schema from "effect/Schema"
import type * as Approval from "../data/Approval.ts"
import type * as Snapshot from "../event/Snapshot.ts"
import type { Meter } from "../budget/Meter.ts"
import type { Recall } from "./Resumed.ts"
import type { ToolContext } from "./ToolDefinition.ts"

/** How the run of a sub-agent would be suspended as it stands; nothing where it cannot be. */
export type Capture = (now: number) => Snapshot.Snapshot | undefined

/** What the run above says to that of a sub-agent. */
export interface Nesting {
  readonly isSuspendable: boolean
  /** The runs above that are suspended with it, nearest first. */
  readonly above: ReadonlyArray<Meter>
  /** Where it was suspended, and what was decided since; absent where it begins. */
  readonly resumption: Resumption | undefined
  readonly started: (capture: Capture) => void
}

interface Resumption {
  readonly from: Snapshot.Snapshot
  readonly decisions: ReadonlyArray<Approval.Decided>
  readonly recall: Recall
}

/** What one call finds of that around it. */
export interface Place {
  /** Where its sub-agent was suspended, with the arguments of the call. */
  readonly nested: Snapshot.Nested | undefined
  readonly nesting: (from: Snapshot.Snapshot | undefined, args: Schema.Json) => Nesting
  /** Its sub-agent is not at work any more. */
  readonly over: () => void
}

/** The run of a sub-agent was suspended: the call of it waits. */
export class Waits {
  readonly snapshot: Snapshot.Snapshot
  constructor(snapshot: Snapshot.Snapshot) {
    this.snapshot = snapshot
  }
}

const nestings = new WeakMap<ToolContext, Nesting>()

/** For the tool that is run with this context, and for nothing that it calls. */
export const offer = (context: ToolContext, nesting: Nesting): void => void nestings.set(context, nesting)

export const offered = (context: ToolContext): Nesting | undefined => nestings.get(context)
