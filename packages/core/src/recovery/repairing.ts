/** The steps that a policy may take after a failure, and the outcome of its callbacks. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { tagOf } from "../data/ErrorCause.ts"
import * as Returned from "../data/Returned.ts"
import { type Answered, type Leaves, type Says, untouchable } from "./Layer.ts"
import type { RespondWith } from "./Node.ts"

type Spoken = Says<unknown, unknown, unknown>

/** The ways in which a table ends a call. */
export type Ending = Answered | Leaves | Parameters<Spoken[keyof Spoken]>[0]

export type Step = Ending | { readonly type: "repeat" }

export const repeat: Step = { type: "repeat" }

/** The answer of `respondWith`. */
export const answerOf = (
  { answer }: RespondWith,
  { error, row }: { readonly error: unknown; readonly row: { readonly seen: unknown } }
): Effect.Effect<unknown, unknown> =>
  Effect.suspend(() => Returned.effect(answer(row.seen), "The function of Recovery.respondWith for", tagOf(error)))

/** The outcome of a failed callback: its error leaves the policy unwrapped; its defects and interruptions pass. */
export const broken = (cause: Cause.Cause<unknown>): Effect.Effect<Step> => {
  const passing = untouchable(cause)
  if (passing !== undefined) return Effect.failCause(passing)
  return Effect.succeed({ type: "left", why: "failed", error: Cause.squash(cause) })
}
