/** Ends or continues a run after a guardrail has blocked the user's words or the model's answer. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redaction from "../data/Redaction.ts"
import { GuardrailError } from "../errors/RunError.ts"
import { untouchable } from "../recovery/Layer.ts"
import type { FailureContext, Node } from "../recovery/Node.ts"
import type { Block } from "./checking.ts"
import type { GuardedRun } from "./guards.ts"

/** The row of the table for a blocked text: answer with a value, fail, or tell the model. */
export type Row = Extract<Node, { readonly kind: "respondWith" | "rethrow" | "tell" }>

export const errorOf = (
  { run, state }: GuardedRun,
  side: "input" | "output",
  { guard, reason }: Block
): GuardrailError =>
  GuardrailError.make({
    agent: run.agent,
    guard,
    side,
    reason,
    transcript: state.transcript(),
    usage: run.ledger.usage
  })

export const ending = (
  row: Row | undefined,
  error: GuardrailError
): Effect.Effect<{ readonly type: "answered"; readonly value: unknown }, unknown> =>
  row?.kind === "respondWith"
    ? Effect.map(
        Effect.suspend(() => row.answer(error)),
        (value) => ({ type: "answered", value })
      )
    : Effect.fail(error)

/** The message that tells the model why its answer was withheld. */
export const reminder = (
  { render }: Extract<Row, { readonly kind: "tell" }>,
  error: GuardrailError,
  attempt: number
): Effect.Effect<string> => {
  const usual = Redaction.own(
    `Your last answer was withheld, and the user has not seen it: ${error.reason}. Give another answer that keeps to this.`
  )
  if (render === undefined) return Effect.succeed(usual)
  const context: FailureContext = {
    attempt,
    previous: [],
    elapsed: Duration.zero,
    failingBatches: 0,
    failuresInARow: 0
  }
  const rendered = Effect.suspend(() => {
    const text = render(error, context)
    return Predicate.isString(text) ? Effect.succeed(text) : text
  })
  return Effect.matchCauseEffect(rendered, {
    onSuccess: (text) => Effect.succeed(Predicate.isString(text) && text.trim() !== "" ? Redaction.own(text) : usual),
    onFailure: (cause) => {
      const passing = untouchable(cause)
      return passing === undefined ? Effect.succeed(usual) : Effect.failCause(passing)
    }
  })
}
