/** Where a tool call stands in its run: made once for each call, and passed on as it is. */
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type { CallCheckpoint, ForSettlement, Snapshot } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Beside } from "./beside.ts"
import type { LateCall, LateEnd } from "./Late.ts"
import { ended, type LiveCall, liveFrom } from "./fate.ts"
import type { Nesting, SiteAtGate, ToolDefinition } from "./ToolDefinition.ts"

export interface CallSite extends SiteAtGate {
  /** With the name of the tool that is meant. */
  readonly call: Message.ToolCall
  /** The name as the model wrote it, where that is another. */
  readonly calledAs?: string
  /** The idempotency key: equal for all attempts of the call, different between calls. */
  readonly key: string
  /** The run, as what the call starts finds it: that repairs nothing by itself. */
  readonly run: RunContext
  /** For a call of a fixer: the failure that it is at work on. */
  readonly repairing: RunContext["repairing"]
  readonly history: FailureHistory.FailureHistory
  /** What was said before the reply that has the call. */
  readonly before: Message.Message | undefined
  /** Whether its run is suspended for a decision; otherwise it asks the `Approver`, and waits. */
  readonly isSuspendable: boolean
  /** Where it goes on; absent where it begins. */
  readonly from: CallCheckpoint | undefined
  /** What was decided while its run was suspended. */
  readonly decisions: SiteAtGate["decisions"]
  /** How its sub-agent is suspended with its run, and goes on with it; absent where that cannot be. */
  readonly nesting: NestingOf | undefined
  readonly slot: Slot
  /** Of a call that was settled as `deferred`, and whose work has ended. */
  readonly late?: LateEnd
  /** The tools that were chosen for its turn; absent for all tools. */
  readonly offered?: ReadonlyArray<string> | undefined
  /** The calls of its reply, where all begin at once in a run that may be suspended. */
  readonly beside?: Beside | undefined
}

/** The state of a call at any time: what is stored if its run ends or is suspended now. */
export class Slot {
  /** Whether its turn has come. */
  isBegun = false
  settlement: Message.Settlement | undefined
  /** As long as it is not settled: the call at work, or in its snapshot. */
  live: LiveCall | undefined
  /** Where it goes on, if it has waited before. */
  from: CallCheckpoint | undefined
  /** Its entry in the failure history, once it is settled. */
  record: FailureHistory.CallOutcome | undefined
  /** Of a call that waits, or whose sub-agent is at work: its checkpoint, were its run suspended now; nothing where it cannot go on. */
  checkpoint: ((now: number) => CallCheckpoint | undefined) | undefined

  /** Its settlement; before it has one, the settlement if its run ended now. Absent before its turn. */
  get settlementNow(): Message.Settlement | undefined {
    if (this.settlement !== undefined) return this.settlement
    return this.isBegun || this.live !== undefined ? ended(this.live) : undefined
  }

  /** What the model reads of it if its run or a message ends it now. */
  settlementBy(by: "run" | "interrupt" | "supersede"): Message.Settlement {
    return ended(this.live, by)
  }

  /** What it waits for, if it has handed that over to its run. */
  get waiting(): CallCheckpoint | undefined {
    return this.record === undefined ? undefined : this.checkpoint?.(0)
  }

  /** It goes on from here when its turn comes. */
  goOn(from: CallCheckpoint, sideEffects: ToolDefinition["sideEffects"]): void {
    this.from = from
    this.live = liveFrom(from, sideEffects)
  }
}

/** Of a sub-agent that goes on from a snapshot, or begins: its call has this checkpoint while it is at work. */
export type NestingOf = (from: Snapshot | undefined, checkpointOf: (snapshot: Snapshot) => CallCheckpoint) => Nesting

/** What a call waits for after it has begun: its sub-agent, or its settlement. */
export type Awaited =
  | { readonly type: "agent"; readonly snapshot: Snapshot }
  | Pick<ForSettlement, "type" | "token" | "handle" | "expiresAt" | "ended">

/** The run of a sub-agent was suspended, or a deferred tool has begun: the call waits. */
export class Waits {
  readonly awaited: Awaited
  /** Set if the run does not wait for it: the call is settled, and its result comes later. */
  readonly late: LateCall | undefined
  constructor(awaited: Awaited, late?: LateCall) {
    this.awaited = awaited
    this.late = late
  }
}

/** A call is settled, or waits. */
export const leave = (beside: Beside): void => {
  if (--beside.atWork > 0) return
  for (const wake of beside.onIdle) wake()
}
