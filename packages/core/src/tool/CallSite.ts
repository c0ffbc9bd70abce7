/** Where a tool call stands in its run: made once for each call, and passed on as it is. */
import type * as Schema from "effect/Schema"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type { Nested, Snapshot } from "../event/Snapshot.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Pending } from "./outcome.ts"
import type { Nesting, Resumed } from "./ToolDefinition.ts"

export interface CallSite {
  readonly call: Message.ToolCall
  /** The idempotency key: equal for all attempts of the call, different between calls. */
  readonly key: string
  /** The run, as what the call starts finds it. */
  readonly run: RunContext
  readonly history: FailureHistory.FailureHistory
  /** Whether its run is suspended for a decision; otherwise it asks the `Approver`, and waits. */
  readonly isSuspendable: boolean
  /** What is known of the calls of a run that goes on. */
  readonly resumed: Resumed | undefined
  /** Where its sub-agent is suspended; absent where none can be. */
  readonly place: Place | undefined
  readonly slot: Slot
}

/** What is known of a call at any instant: should its run end or be suspended then, that is what is kept. */
export class Slot {
  /** Whether its turn has come. */
  isBegun = false
  /** Its settlement; before it has one, how it is settled should it never come to its end. Absent before its turn. */
  settlement: Message.Settlement | undefined
  /** What later calls are to know of it, once it is settled. */
  settled: FailureHistory.Settled | undefined
  /** What it waits for. */
  pending: Pending | undefined
  /** What it would wait for, were its run suspended now: its sub-agent is at work. */
  capture: ((now: number) => Pending | undefined) | undefined
}

/** Where the sub-agent of a call is suspended. */
export interface Place {
  /** Where its sub-agent was suspended, with the arguments of the call. */
  readonly nested: Nested | undefined
  readonly nesting: (from: Snapshot | undefined, args: Schema.Json) => Nesting
  /** Its sub-agent is not at work any more. */
  readonly over: () => void
}

/** The run of a sub-agent was suspended: the call of it waits. */
export class Waits {
  readonly snapshot: Snapshot
  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
  }
}
