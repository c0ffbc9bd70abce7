/** What the driver guards: what differs from layer to layer, and the words that a layer and the driver share. */
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

/** A layer of recovery. `End` has the endings that its tables admit. */
export interface Layer<A, B, E, R, End = Ends<A, B, E, R>> {
  /** One attempt, counted from 1. `progress` is that of the whole call, once it has failed. */
  readonly attempt: (attempt: number, progress: Progress | undefined) => Effect.Effect<A, unknown, R>
  /** The row that guards a failure; without one, the failure leaves. */
  readonly row: (error: unknown, progress: Progress) => Row | undefined
  /** How a rung changes the input of the next attempt; a rung that needs an absent way gives up. */
  readonly repairs: Repairs<R>
  /** The time and the budget of the run around it. */
  readonly bounds: Bounds
  /** Gets each decision. */
  readonly observe: (decision: VerdictRecord) => Effect.Effect<void>
  /** What the endings mean. */
  readonly end: End
}

/** The row of a table that guards a failure, and what its callbacks see. */
export interface Row {
  /** Names the row within its table and level: its counts are kept under this name. */
  readonly key: string
  readonly verdict: Node
  /** The failure as the callbacks and schedules of the row see it. */
  readonly seen: unknown
  /** The part of the context that the driver does not know. */
  readonly about: About
  /** Whether a rung that runs something again may do so after this failure. */
  readonly admits: (rung: Retry | Fix) => boolean
  /** Why it may not, where the layer says so. */
  readonly why?: VerdictRecord["why"]
}

export type About = Omit<FailureContext, "attempt" | "previous" | "elapsed">

/** Outside of tools there are no earlier calls. */
const nothing: About = { failingBatches: 0, failuresInARow: 0 }

export interface Repairs<R> {
  /** Runs a fixer once, or asks a person once. */
  readonly fix?: (rung: Fix | Ask, seen: unknown, fixRun: FixRun) => Effect.Effect<Fixed, never, R>
  /** Of a call that a person can decide about. */
  readonly site?: AskedCall["site"]
  readonly compact?: (rung: Compact, error: unknown) => Effect.Effect<Compacted, never, R>
  /** Shared by all tables around a model call: together they shorten its conversation. */
  readonly compactions?: Compactions
}

/** How often a conversation was shortened, and what each compaction waits for: what it reads may still be checked. */
export interface Compactions {
  made: number
  readonly gate?: Effect.Effect<void> | undefined
}

export interface Bounds {
  /** What is left of the run's budget; `undefined` outside of a run. */
  readonly left: () => BudgetLeft | undefined
  /** The instant that no wait may pass. */
  readonly deadline: () => number
  /** When another call has ended the run, if so: from then on no rung repeats or repairs anything. */
  readonly haltedAt?: () => number
  /** Waits before another attempt. */
  readonly wait: (delay: Duration.Duration) => Effect.Effect<void>
  /** The part of a seen failure that a position stores; absent if no position is wanted. */
  readonly keep?: ((error: unknown) => Seen) | undefined
  /** The attempts of functions within the table, beyond its own: they count too. */
  readonly extra?: Extra | undefined
  /** Replaces the cap of a call. */
  readonly maxAttempts?: number
  /** How many failures and decisions are remembered, the last ones; all by default. */
  readonly remembered?: number
  /** Gets the position of the policy before each wait. */
  readonly onWait?: ((position: Position) => Effect.Effect<void>) | undefined
}

/** A verdict, and the nearest backstop row, which decides after the verdict gives up. */
export const backed = (verdict: Node, levels: ReadonlyArray<{ readonly rows: Rows }>): Node => {
  const last = levels.map(({ rows }) => rows.get("orElse")).find((node) => node?.behind !== undefined)
  return last?.behind === undefined || last === verdict ? verdict : { kind: "ladder", rungs: [verdict, last.behind] }
}

/** Outside of a run, nothing is bounded. */
export const unbounded: Bounds = { left: () => undefined, deadline: () => Infinity, wait: Effect.sleep }

/** An answer of a table instead of a result. */
export interface Answered {
  readonly type: "answered"
  readonly value: unknown
  readonly by: string
}

/**
 * A failure that leaves. `exhausted`: the last rung gave up; `cap` names the bound that stopped it before its own counts did,
 * `isLate` says that the next wait would have passed the deadline, and `isHalted` that another call has ended the run. `rethrown`: there is no row, or its verdict is `rethrow`.
 * `failed`: a handler, a schedule or a fixer failed for good; its own error leaves.
 */
export interface Leaves {
  readonly type: "left"
  readonly why: "exhausted" | "rethrown" | "failed"
  readonly error: unknown
  readonly cap?: string | undefined
  readonly isLate?: boolean | undefined
  readonly isHalted?: boolean | undefined
}

/** Endings that only a tool call has: its model is told, or its run ends. */
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
    /** By default that of an escalation, and `HIGH` for every other failure. */
    readonly severity: Severity | undefined
    readonly by: string
    readonly error: unknown
  }
  readonly raised: { readonly type: "raised"; readonly error: unknown }
}

/** What every table may end with. */
export interface Ends<A, B, E, R> {
  readonly succeeded: (value: A, trace: Trace) => Effect.Effect<B, E, R>
  readonly answered: (ending: Answered, trace: Trace) => Effect.Effect<B, E, R>
  readonly left: (ending: Leaves, trace: Trace) => Effect.Effect<B, E, R>
}

/** What tables of tools may end with besides. */
export type Says<B, E, R> = {
  readonly [K in keyof Spoken]: (ending: Spoken[K], trace: Trace) => Effect.Effect<B, E, R>
}

/** What a call has seen so far. */
export interface Trace {
  readonly attempts: number
  /** Every error on the way, those of fixers included, oldest first. */
  readonly failures: ReadonlyArray<unknown>
  readonly trail: ReadonlyArray<VerdictRecord>
}

/** What can be asked of a call while it lasts. */
export interface Progress {
  readonly trace: () => Trace
  readonly position: () => Position
  /** What a schedule knew when it let the next attempt be made. */
  readonly metadata: () => Schedule.Metadata
}

/** Where a call goes on, and what is known of the part that came before. */
export interface Origin {
  readonly position: Position
  readonly failures?: ReadonlyArray<unknown>
  readonly trail?: ReadonlyArray<VerdictRecord>
  /** Set if the policy waited for a person: its last failure, about which it goes on with the decision. */
  readonly failed?: { readonly error: unknown }
}

/**
 * What is left of a cause that no table may see. Interruption always wins: a typed failure beside it is dropped. Beside
 * a defect it becomes one, as in `Effect.retry`. An empty cause has no failure to look up.
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

/** The row of a single table: the exact tag, else `orElse`. */
export const rowOf = (rows: Rows, error: unknown, admits: Row["admits"] = () => true): Row | undefined => {
  const tag = ErrorCause.tagOf(error)
  const key = rows.has(tag) ? tag : "orElse"
  const verdict = rows.get(key)
  return verdict === undefined ? undefined : { key, verdict, seen: error, about: nothing, admits }
}
