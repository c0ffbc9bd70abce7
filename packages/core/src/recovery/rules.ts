/** What a layer says about its failures, and how a table ends them. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { Severity } from "../errors/ToolError.ts"
import type { Left } from "../errors/Trail.ts"
import type { Position, Seen } from "./Position.ts"
import type {
  Afterwards,
  Compact,
  Compacted,
  Decision,
  FailureContext,
  Fix,
  Fixed,
  FixRound,
  Node,
  Renderer,
  Retry
} from "./Node.ts"

export interface Row {
  /** Names the row within its table and level: its counts are kept under this name. */
  readonly key: string
  readonly verdict: Node
  /** What the row's callbacks and schedules see of the failure. */
  readonly seen: unknown
}

/** How a table ends a failure. */
export type Ending =
  | { readonly type: "answered"; readonly value: unknown; readonly by: string }
  | {
      readonly type: "told"
      readonly render: Renderer | undefined
      readonly afterwards: Afterwards | undefined
      readonly error: unknown
      readonly seen: unknown
      readonly context: FailureContext
    }
  | {
      readonly type: "escalated"
      readonly reason: unknown
      readonly severity: Severity
      readonly by: string
      readonly error: unknown
    }
  /** `cap` names what stopped it before its own counts did; `isLate`: the next wait would have passed the run's end. */
  | {
      readonly type: "exhausted"
      readonly error: unknown
      readonly cap?: string | undefined
      readonly isLate?: boolean | undefined
    }
  | { readonly type: "raised"; readonly error: unknown }
  /** No row, or `rethrow`: the failure leaves as itself. */
  | { readonly type: "rethrown"; readonly error: unknown }
  /** A handler, a schedule or a fixer failed for good: its own error leaves, unwrapped. */
  | { readonly type: "failed"; readonly error: unknown }

/** How often a conversation was shortened. */
export interface Compactions {
  made: number
}

/** What the failing path has seen so far. */
export interface Trace {
  readonly attempts: number
  /** Every error on the way, those of fixers included, oldest first. */
  readonly failures: ReadonlyArray<unknown>
  readonly trail: ReadonlyArray<Decision>
}

/** What can be asked of a failing path while it lasts. */
export interface Progress {
  readonly trace: () => Trace
  readonly position: () => Position
}

/** Where a failing path goes on, and what is known of the part that came before. */
export interface Origin {
  readonly position: Position
  readonly failures?: ReadonlyArray<unknown>
  readonly trail?: ReadonlyArray<Decision>
}

/** What a layer says about its failures. */
export interface Rules<R> {
  readonly row: (error: unknown) => Row | undefined
  /** The part of the context that the driver does not know. */
  readonly about: () => Omit<FailureContext, "attempt" | "previous" | "elapsed">
  /** Whether a rung that runs something again makes sense for this failure. */
  readonly admits: (rung: Retry | Fix, error: unknown) => boolean
  readonly fix: (rung: Fix, seen: unknown, round: FixRound) => Effect.Effect<Fixed, never, R>
  /** Only where a conversation is what failed. */
  readonly compact?: (rung: Compact, error: unknown) => Effect.Effect<Compacted, never, R>
  /** Shared by all tables that one question to a model passes: they shorten it together. */
  readonly compactions?: Compactions
  readonly observe: (decision: Decision) => Effect.Effect<void>
  /** What is kept of a failure that a schedule has seen; only where somebody asks for the position, or hears it. */
  readonly keep?: ((error: unknown) => Seen) | undefined
  /** Hears where the policy stands, before each wait. */
  readonly onWait?: ((position: Position) => Effect.Effect<void>) | undefined
  /** In the place of a sleep, before another attempt. */
  readonly wait?: ((delay: Duration.Duration) => Effect.Effect<void>) | undefined
  /** What is left of the run's budget just now; `undefined` outside of a run. */
  readonly left: () => Left | undefined
  /** The instant that no wait may pass. */
  readonly deadline: () => number
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
