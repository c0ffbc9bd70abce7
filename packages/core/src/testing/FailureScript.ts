/** A script for policies: what each attempt does, and how long it takes. It is plain data. */
import type { FailureStep } from "./failures.ts"

export type { FailureStep } from "./failures.ts"

/** What each attempt of a guarded effect does, in order. `fails`, `succeeds`, `dies` and `never` make its steps. */
export interface FailureScript<Tag extends string = string> {
  readonly steps: ReadonlyArray<FailureStep<Tag>>
  /** The step of every attempt after those of `steps`. */
  readonly rest: FailureStep<Tag>
}

/** A script of these steps, then `rest`. By default `rest` succeeds with the value `"fine"`. */
export const make = <Tag extends string>(
  steps: ReadonlyArray<FailureStep<Tag>>,
  rest: FailureStep<Tag> = succeeds()
): FailureScript<Tag> => ({ steps, rest })

/** A script in which every attempt does the same. */
export const always = <Tag extends string>(rest: FailureStep<Tag>): FailureScript<Tag> => ({ steps: [], rest })

/**
 * An attempt that fails with an error of this tag. It takes `takes` milliseconds, 0 by default. `hint` is the wait that the server asks
 * for, in milliseconds.
 */
export const fails = <const Tag extends string>(
  tag: Tag,
  { hint, takes = 0 }: { readonly takes?: number; readonly hint?: number } = {}
): FailureStep<Tag> => ({ takes, does: "fail", tag, ...(hint === undefined ? {} : { hint }) })

/** An attempt that takes `takes` milliseconds and succeeds. */
export const succeeds = (value = "fine", takes = 0): FailureStep<never> => ({ takes, does: "succeed", value })

/** An attempt that dies at once. No policy handles a defect. */
export const dies: FailureStep<never> = { takes: 0, does: "die" }

/** An attempt that never ends. */
export const never: FailureStep<never> = { takes: 0, does: "never" }

/**
 * The step of the attempt with this number; the first attempt is 1.
 *
 * @internal
 */
export const stepOf = <Tag extends string>({ rest, steps }: FailureScript<Tag>, attempt: number): FailureStep<Tag> =>
  steps[attempt - 1] ?? rest
