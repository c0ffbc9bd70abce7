/** The decisions before a final error: they show why recovery gave up. */
import * as Schema from "effect/Schema"

/** The rest of a run's budget. */
export interface BudgetLeft extends Schema.Schema.Type<typeof left> {}

const left = Schema.Struct({ turns: Schema.Finite, toolCalls: Schema.Finite })

/** What a policy may decide about a failure. `fallback` is that of `Model.fallback`; all others are verdicts of `Recovery`. */
export type VerdictKind = typeof VerdictKind.Type

export const VerdictKind = Schema.Literals([
  "retry",
  "fix",
  "ask",
  "compact",
  "tell",
  "escalate",
  "respondWith",
  "raise",
  "rethrow",
  "fallback"
])

/**
 * One decision, with the failure that it was about.
 *
 * @hidden
 */
export interface TrailEntry extends Schema.Schema.Type<typeof TrailEntry> {}

/** @hidden */
export const TrailEntry = Schema.Struct({
  /** The tag of the failure. */
  tag: Schema.String,
  /** The message of the failure. */
  message: Schema.String,
  verdict: VerdictKind,
  /** Whether the rung of this verdict gave up: it did not act on this failure. */
  gaveUp: Schema.Boolean,
  /** Why the rung gave up, if its counts do not say: no person can be asked, or no model can go on from the text. */
  why: Schema.optionalKey(Schema.Literals(["no-approver", "no-continuation"])),
  /** The rung of the ladder, from 0. */
  rung: Schema.Finite,
  /** How many attempts had been made. */
  attempt: Schema.Finite,
  /** The wait before the next attempt; zero without a wait. */
  delay: Schema.Duration,
  /** The wait that the server asked for, and the tag of the error that carried it. */
  hint: Schema.optionalKey(Schema.Duration),
  hintFrom: Schema.optionalKey(Schema.String),
  left: Schema.optionalKey(left)
})

/** Oldest first. */
export type Trail = typeof Trail.Type

export const Trail = Schema.Array(TrailEntry)
