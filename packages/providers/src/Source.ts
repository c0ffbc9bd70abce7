/** Whom a request goes to, and which secrets no error about it may repeat. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"

export interface Source {
  /** `openai`, `anthropic` … */
  readonly provider: string
  readonly model: string
  /** The credentials of the request, and whatever else must never be repeated. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Below this length a "secret" would blacken ordinary words. */
const shortestSecret = 4

/** The text with every secret of this source masked, wherever it stands in it. */
export const scrub = (self: Source, text: string): string => {
  let scrubbed = text
  for (const secret of self.secrets) {
    const value = Redacted.value(secret).trim()
    if (value.length >= shortestSecret) scrubbed = scrubbed.replaceAll(value, "<redacted>")
  }
  return scrubbed
}

/** Foreign words as an error may quote them: scrubbed, whatever looks like a credential masked, at most 1000 characters. */
export const quote = (self: Source, text: string): string => ErrorCause.mask(scrub(self, text).trim())

/** The cause itself, or, where a message in its chain repeats a secret, its summary without it. */
export const scrubCause = (self: Source, cause: unknown): unknown => {
  const repeats = chainOf(cause).some((link) => {
    const texts = [ErrorCause.messageOf(link), Predicate.isError(link) ? (link.stack ?? "") : ""]
    return texts.some((text) => scrub(self, text) !== text)
  })
  if (!repeats) return cause
  const { code, message, name } = ErrorCause.summarise(cause)
  const fields = { name, message: quote(self, message) }
  return new ErrorCause.ForeignError(code === undefined ? fields : { ...fields, code: scrub(self, code) })
}

/** A failure and what lies beneath it: its causes, and the members of an aggregate. */
export const chainOf = (cause: unknown, depth = 0): ReadonlyArray<unknown> => {
  if (cause === undefined || cause === null || depth > 5) return []
  if (!Predicate.isObject(cause)) return [cause]
  const members: ReadonlyArray<unknown> = "errors" in cause && Array.isArray(cause.errors) ? cause.errors : []
  return [cause, ...[...members, cause.cause].flatMap((beneath) => chainOf(beneath, depth + 1))]
}
