/** The types of a failure script's steps, and of the failures that they make. */
import type * as Duration from "effect/Duration"

/** A failure made by a script; each attempt makes a new object. Policies read the server's hint from `retryAfter`. */
export interface Failure<out Tag extends string = string> {
  readonly _tag: Tag
  readonly attempt: number
  readonly retryAfter?: Duration.Duration
}

/**
 * What an attempt does when `takes` milliseconds have passed.
 *
 * @hidden
 */
export type FailureStep<Tag extends string = string> = { readonly takes: number } & (
  | { readonly does: "succeed"; readonly value: string }
  /** An attempt that fails. `hint` is the wait that the server asks for, in milliseconds. */
  | { readonly does: "fail"; readonly tag: Tag; readonly hint?: number }
  /** A single cause with a failure and also a defect or an interruption. */
  | { readonly does: "fail and die" | "fail and interrupt"; readonly tag: Tag }
  | { readonly does: "die" | "interrupt" | "never" }
)
