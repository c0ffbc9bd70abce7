/** The steps of a failure script, and their failures. */
import type * as Duration from "effect/Duration"

/** A failure of a script: a fresh object in every attempt. Policies read the hint of a server from `retryAfter`. */
export interface Failure<out Tag extends string = string> {
  readonly _tag: Tag
  readonly attempt: number
  readonly retryAfter?: Duration.Duration
}

/**
 * What an attempt does once `takes` milliseconds have passed.
 *
 * @hidden
 */
export type FailureStep<Tag extends string = string> = { readonly takes: number } & (
  | { readonly does: "succeed"; readonly value: string }
  /** `hint` is the wait that the server asks for, in milliseconds. */
  | { readonly does: "fail"; readonly tag: Tag; readonly hint?: number }
  /** One cause that holds a failure, and a defect or an interruption beside it. */
  | { readonly does: "fail and die" | "fail and interrupt"; readonly tag: Tag }
  | { readonly does: "die" | "interrupt" | "never" }
)
