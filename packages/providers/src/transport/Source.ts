/** Whom a request goes to, and which secrets no error about it may repeat. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"

/** A model, who serves it, and what must not be repeated. */
export interface Source {
  /** `openai`, `anthropic` … */
  readonly provider: string
  readonly model: string
  /** The credentials of the request, and whatever else must never be repeated. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Foreign words as an error may quote them: redacted, at most 1000 characters. */
export const quote = (text: string): string => Redaction.foreign(text.trim())

/** The cause itself, or, where a message in its chain repeats a secret, its summary without it. */
export const scrubCause = (cause: unknown): unknown => {
  const repeats = ForeignFailure.chainOf(cause).some((link) => {
    const texts = [ErrorCause.messageOf(link), Predicate.isError(link) ? (link.stack ?? "") : ""]
    return texts.some((text) => Redaction.own(text) !== text)
  })
  if (!repeats) return cause
  const { code, message, name } = ErrorCause.summarise(cause)
  const fields = { name, message: quote(message) }
  return new ErrorCause.ForeignError(code === undefined ? fields : { ...fields, code: Redaction.own(code) })
}
