/** The model and provider that a request goes to, and the secrets that no error may repeat. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as ForeignFailure from "@kintsugi/core/ForeignFailure"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"

/** The model that a request goes to, its provider, and the secrets of the request. */
export interface Source {
  /** `openai`, `anthropic` … */
  readonly provider: string
  readonly model: string
  /** The credentials of the request, and all other texts that no error message may repeat. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Makes a text of the server safe to quote in an error: secrets are redacted, and the text is cut after 1000 characters. */
export const quote = (text: string): string => Redaction.foreign(text.trim())

/** Returns the cause of an error unchanged, or a redacted summary of it if a message or stack in its chain repeats a secret. */
export const scrubCause = (cause: unknown): unknown => {
  const repeats = ForeignFailure.chainOf(cause).some((link) => {
    // Mutant `"Stryker was here!"` survives: it repeats no secret
    const texts = [ErrorCause.messageOf(link), Predicate.isError(link) ? (link.stack ?? "") : ""]
    return texts.some((text) => Redaction.own(text) !== text)
  })
  if (!repeats) return cause
  const { code, message, name } = ErrorCause.summarise(cause)
  const fields = { name, message: quote(message) }
  return new ErrorCause.ForeignError(code === undefined ? fields : { ...fields, code: Redaction.own(code) })
}
