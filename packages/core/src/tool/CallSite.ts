/** The place of a tool call in its run: what the call can read of the run. It is made once for each call and passed on unchanged. */
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type { PassedOn } from "../coercion/Unwrapped.ts"
import type * as Message from "../data/Message.ts"
import type { CallCheckpoint, ForSettlement, Snapshot } from "../event/Checkpoint.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Beside } from "./beside.ts"
import type { LateCall, LateEnd } from "./Late.ts"
import { ended, type LiveCall, liveFrom } from "./fate.ts"
import type { Nesting, SiteAtGate, ToolDefinition } from "./ToolDefinition.ts"

export interface CallSite extends SiteAtGate {
  /** The call, with the name of the tool that the model means. */
  readonly call: Message.ToolCall
  /** The name that the model wrote, if it differs from the name of the tool. */
  readonly calledAs?: string
  /** What had to be mended to read the call out of one of `call_tool`; absent if nothing had. */
  readonly mended?: PassedOn["changes"]
  /** The idempotency key: equal for all attempts of the call, different between calls. */
  readonly key: string
  /** The run as the tool and its sub-agents see it: without `repairing`, even if this call is made by a fixer. */
  readonly run: RunContext
  /** The failure that the run repairs, if the run is one of a fixer. */
  readonly repairing: RunContext["repairing"]
  readonly history: FailureHistory.FailureHistory
  /** The last message before the reply that has this call. */
  readonly before: Message.Message | undefined
  /** Whether the run is suspended to wait for a decision. Otherwise the call asks the `Approver`, and waits. */
  readonly isSuspendable: boolean
  /** The checkpoint from which a resumed call goes on; absent for a new call. */
  readonly from: CallCheckpoint | undefined
  /** The decisions that came while the run was suspended. */
  readonly decisions: SiteAtGate["decisions"]
  /** Suspends and resumes a sub-agent together with this run; absent if that is impossible. */
  readonly nesting: NestingOf | undefined
  readonly slot: Slot
  /** How the work ended of a call that was settled as `deferred` before. */
  readonly late?: LateEnd
  /** The names of the tools that were chosen for this turn; absent if all tools may be called. */
  readonly offered?: ReadonlyArray<string> | undefined
  /** The calls of the same reply, if they all begin at once in a run that may be suspended. */
  readonly beside?: Beside | undefined
}

/** The state of one call. The run reads from it what to store when it ends or is suspended. */
export class Slot {
  /** Whether the run has begun with this call. */
  isBegun = false
  settlement: Message.Settlement | undefined
  /** The call at work, or what its checkpoint says about it; absent once the call is settled. */
  live: LiveCall | undefined
  /** The checkpoint from which the call goes on, if it has waited before. */
  from: CallCheckpoint | undefined
  /** The entry of the call in the failure history, once the call is settled. */
  record: FailureHistory.CallOutcome | undefined
  /**
   * Makes the checkpoint of a call that waits or whose sub-agent is at work, as if the run were suspended now. It returns `undefined` if
   * the call could not be resumed.
   */
  checkpoint: ((now: number) => CallCheckpoint | undefined) | undefined

  /**
   * The settlement of the call or, before there is one, the settlement that it would get if its run ended now. Absent before the call
   * begins.
   */
  get settlementNow(): Message.Settlement | undefined {
    if (this.settlement !== undefined) return this.settlement
    return this.isBegun || this.live !== undefined ? ended(this.live) : undefined
  }

  /** The settlement that the model reads if the run ends now, or if a message of the user ends the call now. */
  settlementBy(by: "run" | "interrupt" | "supersede"): Message.Settlement {
    return ended(this.live, by)
  }

  /** What the call waits for, once its run has taken over the wait. */
  get waiting(): CallCheckpoint | undefined {
    return this.record === undefined ? undefined : this.checkpoint?.(0)
  }

  /** Sets the checkpoint from which the call goes on when the run comes to it. */
  goOn(from: CallCheckpoint, sideEffects: ToolDefinition["sideEffects"]): void {
    this.from = from
    this.live = liveFrom(from, sideEffects)
  }
}

/**
 * Makes what a parent passes to the run of a sub-agent, which is new or resumed from a snapshot. While the sub-agent runs, its call has the
 * checkpoint that `checkpointOf` makes.
 */
export type NestingOf = (from: Snapshot | undefined, checkpointOf: (snapshot: Snapshot) => CallCheckpoint) => Nesting

/** What a call waits for after it has begun: a suspended sub-agent, or the settlement of a deferred tool. */
export type Awaited =
  | { readonly type: "agent"; readonly snapshot: Snapshot }
  | Pick<ForSettlement, "type" | "token" | "handle" | "expiresAt" | "ended">

/** The failure of an attempt that has to wait: the run of its sub-agent was suspended, or its deferred tool has begun. */
export class Waits {
  readonly awaited: Awaited
  /** Set if the run does not wait for the call: the call is settled now, and its result comes later. */
  readonly late: LateCall | undefined
  constructor(awaited: Awaited, late?: LateCall) {
    this.awaited = awaited
    this.late = late
  }
}

/** Notes that a call is settled or waits. If no other call of its reply is at work, this wakes the calls that wait for that. */
export const leave = (beside: Beside): void => {
  if (--beside.atWork > 0) return
  for (const wake of beside.onIdle) wake()
}
