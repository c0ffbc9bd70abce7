/** What each attempt of something does, and how long that takes: what policies are tried on. Plain data. */
import type * as Duration from "effect/Duration"

/** A failure of a script: a fresh object in every attempt. Policies read what a server asked for as `retryAfter`. */
export interface Failure<out Tag extends string = string> {
  readonly _tag: Tag
  readonly attempt: number
  readonly retryAfter?: Duration.Duration
}

/** What an attempt does once `takes` milliseconds have passed. */
export type Step<Tag extends string = string> = { readonly takes: number } & (
  | { readonly does: "succeed"; readonly value: string }
  /** `hint`: after how many milliseconds the server wants to be asked again. */
  | { readonly does: "fail"; readonly tag: Tag; readonly hint?: number }
  /** One cause that holds a failure, and a defect or an interruption beside it. */
  | { readonly does: "fail and die" | "fail and interrupt"; readonly tag: Tag }
  | { readonly does: "die" | "interrupt" | "never" }
)

/** What each attempt does, in order. */
export interface FailureScript<Tag extends string = string> {
  readonly steps: ReadonlyArray<Step<Tag>>
  /** What every attempt after the last step does. */
  readonly rest: Step<Tag>
}

/** These steps, then `rest`: by default a success with the value `"fine"`. */
export const make = <Tag extends string>(
  steps: ReadonlyArray<Step<Tag>>,
  rest: Step<Tag> = succeeds()
): FailureScript<Tag> => ({ steps, rest })

/** Every attempt does this. */
export const always = <Tag extends string>(rest: Step<Tag>): FailureScript<Tag> => ({ steps: [], rest })

/** Fails with that tag. Times are milliseconds. */
export const fails = <const Tag extends string>(
  tag: Tag,
  { hint, takes = 0 }: { readonly takes?: number; readonly hint?: number } = {}
): Step<Tag> => ({ takes, does: "fail", tag, ...(hint === undefined ? {} : { hint }) })

/** An attempt that takes so many milliseconds and succeeds. */
export const succeeds = (value = "fine", takes = 0): Step<never> => ({ takes, does: "succeed", value })

/** A defect: no policy may handle it. */
export const dies: Step<never> = { takes: 0, does: "die" }

/** It never ends. */
export const never: Step<never> = { takes: 0, does: "never" }

/** What an attempt does, counted from 1. */
export const stepOf = <Tag extends string>({ rest, steps }: FailureScript<Tag>, attempt: number): Step<Tag> =>
  steps[attempt - 1] ?? rest
