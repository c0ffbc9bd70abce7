/** The interface between the driver and the layers that it guards: tool calls, model calls, sends and plain effects. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import * as ErrorCause from "../data/ErrorCause.ts"
import type { Extra } from "./Attempts.ts"
import type { Severity } from "../errors/ToolError.ts"
import type { BudgetLeft } from "../errors/Trail.ts"
import type {
  Afterwards,
  Ask,
  AskedCall,
  Compact,
  Compacted,
  VerdictRecord,
  FailureContext,
  Fix,
  Fixed,
  FixRun,
  Node,
  Renderer,
  Retry,
  Rows,
  Tell
} from "./Node.ts"
import type { Position, Seen } from "./Position.ts"

export { attemptCap } from "./bounds.ts"

/** A layer of recovery. `End` holds a function for each way in which its tables may end a call. */
export interface Layer<A, B, E, R, End = Ends<A, B, E, R>> {
  /** Makes one attempt; `attempt` counts from 1. `progress` is the state of the whole call, once an attempt has failed. */
  readonly attempt: (attempt: number, progress: Progress | undefined) => Effect.Effect<A, unknown, R>
  /** Repeats the attempt without a row, if the failure admits that. The repetition does not count as an attempt. */
  readonly repeat?: (error: unknown) => Effect.Effect<A, unknown, R> | undefined
  /** Finds the row for a failure. Without a row, the failure leaves the layer. */
  readonly row: (error: unknown, progress: Progress) => Row | undefined
  /** The ways in which a rung may change the input of the next attempt. A rung whose way is absent gives up. */
  readonly repairs: Repairs<R>
  /** The time and the budget of the surrounding run. */
  readonly bounds: Bounds
  /** Gets each decision. */
  readonly observe: (decision: VerdictRecord) => Effect.Effect<void>
  /** What the endings mean. */
  readonly end: End
}

/** The row that decides about a failure, and the view of the failure that its callbacks get. */
export interface Row {
  /** The name of the row within its table and level. The driver stores the counts of the row under it. */
  readonly key: string
  readonly verdict: Node
  /** The failure in the form that the callbacks and schedules of the row get. */
  readonly seen: unknown
  /** The fields of the `FailureContext` that the layer fills in; the driver adds the others. */
  readonly about: About
  /** Whether a rung may run the call again after this failure. */
  readonly admits: (rung: Retry | Fix) => boolean
  /** The reason why `admits` returns `false`, if the layer gives one. */
  readonly why?: VerdictRecord["why"]
}

export type About = Omit<FailureContext, "attempt" | "previous" | "elapsed">

/** The context outside of tools, where no batch of calls came before. */
const nothing: About = { failingBatches: 0, failuresInARow: 0 }

export interface Repairs<R> {
  /** Runs a fixer once, or asks a person once. */
  readonly fix?: (rung: Fix | Ask, seen: unknown, fixRun: FixRun) => Effect.Effect<Fixed, never, R>
  /** The call about which a person may be asked; absent outside of tools. */
  readonly site?: AskedCall["site"]
  readonly compact?: (rung: Compact, error: unknown) => Effect.Effect<Compacted, never, R>
  /** The count of compactions. All tables around a model call share it, so together they keep to its limit. */
  readonly compactions?: Compactions
}

/**
 * The number of compactions of a conversation, and an effect that each compaction waits for: a guardrail may still be checking the
 * conversation.
 */
export interface Compactions {
  made: number
  readonly gate?: Effect.Effect<void> | undefined
}

export interface Bounds {
  /** The rest of the run's budget; `undefined` outside of a run. */
  readonly left: () => BudgetLeft | undefined
  /** The instant, in milliseconds since the epoch, that no wait may pass. */
  readonly deadline: () => number
  /** The instant at which another call ended the run, or infinity. From then on no rung repeats or repairs anything. */
  readonly haltedAt?: () => number
  /** Waits before another attempt. */
  readonly wait: (delay: Duration.Duration) => Effect.Effect<void>
  /** Picks the part of a failure that a stored position contains. Absent if no position is stored. */
  readonly keep?: ((error: unknown) => Seen) | undefined
  /** The attempts that users' functions have added inside the table; they count against its cap. */
  readonly extra?: Extra | undefined
  /** The most attempts, in place of the cap of a call. */
  readonly maxAttempts?: number
  /** The number of latest failures and decisions that the policy remembers; all of them by default. */
  readonly remembered?: number
  /** Gets the position of the policy before each wait. */
  readonly onWait?: ((position: Position) => Effect.Effect<void>) | undefined
}

/** Adds the nearest backstop row behind a verdict: it decides after the verdict has given up. */
export const backed = (verdict: Node, levels: ReadonlyArray<{ readonly rows: Rows }>): Node => {
  const last = levels.map(({ rows }) => rows.get("orElse")).find((node) => node?.behind !== undefined)
  return last?.behind === undefined || last === verdict ? verdict : { kind: "ladder", rungs: [verdict, last.behind] }
}

/** The bounds outside of a run: no budget and no deadline. */
export const unbounded: Bounds = { left: () => undefined, deadline: () => Infinity, wait: Effect.sleep }

/** The ending of a call with an answer of the table in place of a result. */
export interface Answered {
  readonly type: "answered"
  readonly value: unknown
  readonly by: string
}

/**
 * The ending of a call whose failure leaves the layer. `exhausted`: the last rung gave up; `cap` names the bound that stopped it early,
 * `isLate` says that its wait would have passed the deadline, and `isHalted` that another call has ended the run. `rethrown`: no row
 * matched, or its verdict is `rethrow`. `failed`: a handler, schedule or fixer failed, and its error leaves.
 */
export interface Leaves {
  readonly type: "left"
  readonly why: "exhausted" | "rethrown" | "failed"
  readonly error: unknown
  readonly cap?: string | undefined
  readonly isLate?: boolean | undefined
  readonly isHalted?: boolean | undefined
}

/** The endings that only tool calls have: the model is told, or the run ends. */
export interface Spoken {
  readonly toModel: {
    readonly type: "to-model"
    readonly render: Renderer | undefined
    readonly byDefault: Tell["byDefault"]
    readonly afterwards: Afterwards | undefined
    readonly error: unknown
    readonly seen: unknown
    readonly context: FailureContext
  }
  readonly escalated: {
    readonly type: "escalated"
    readonly reason: unknown
    /** `undefined` means the severity of an `EscalationError`, and `HIGH` for any other failure. */
    readonly severity: Severity | undefined
    readonly by: string
    readonly error: unknown
  }
  readonly raised: { readonly type: "raised"; readonly error: unknown }
}

/** The endings that every table has. */
export interface Ends<A, B, E, R> {
  readonly succeeded: (value: A, trace: Trace) => Effect.Effect<B, E, R>
  readonly answered: (ending: Answered, trace: Trace) => Effect.Effect<B, E, R>
  readonly left: (ending: Leaves, trace: Trace) => Effect.Effect<B, E, R>
}

/** The additional endings of tables for tools. */
export type Says<B, E, R> = {
  readonly [K in keyof Spoken]: (ending: Spoken[K], trace: Trace) => Effect.Effect<B, E, R>
}

/** The record of a call so far. */
export interface Trace {
  readonly attempts: number
  /** All errors of the call, with those of its fixers, oldest first. */
  readonly failures: ReadonlyArray<unknown>
  readonly trail: ReadonlyArray<VerdictRecord>
}

/** The state of a call, for the layer to read between attempts. */
export interface Progress {
  readonly trace: () => Trace
  readonly position: () => Position
  /** The metadata of the schedule step that led to the next attempt. */
  readonly metadata: () => Schedule.Metadata
}

/** The stored state from which a policy continues: its position, earlier failures and decisions. */
export interface Origin {
  readonly position: Position
  readonly failures?: ReadonlyArray<unknown>
  readonly trail?: ReadonlyArray<VerdictRecord>
  /** The last failure, if the policy waited for a person's decision about it. */
  readonly failed?: { readonly error: unknown }
}

/**
 * The part of a cause that tables must not handle; `undefined` if a table may handle it. An interruption passes without the typed failures
 * beside it. Beside a defect, typed failures become defects, as in `Effect.retry`. An empty cause passes too.
 */
export const untouchable = (cause: Cause.Cause<unknown>): Cause.Cause<never> | undefined => {
  if (Cause.hasInterrupts(cause)) {
    return Cause.fromReasons(cause.reasons.filter((reason) => !Cause.isFailReason(reason)))
  }
  if (!Cause.hasDies(cause)) return cause.reasons.length === 0 ? Cause.empty : undefined
  return Cause.fromReasons(
    cause.reasons.map((reason) => (Cause.isFailReason(reason) ? Cause.makeDieReason(reason.error) : reason))
  )
}

/** Finds the row for an error in a single table: the row of its tag, otherwise `orElse`. */
export const rowOf = (rows: Rows, error: unknown, admits: Row["admits"] = () => true): Row | undefined => {
  const tag = ErrorCause.tagOf(error)
  const key = rows.has(tag) ? tag : "orElse"
  const verdict = rows.get(key)
  return verdict === undefined ? undefined : { key, verdict, seen: error, about: nothing, admits }
}
