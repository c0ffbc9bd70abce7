/** Whom a request goes to, and which secrets no error about it may repeat. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { mask, type Mask } from "@kintsugi/core/Secrets"

/** A model, who serves it, and what must not be repeated. */
export interface Source {
  /** `openai`, `anthropic` … */
  readonly provider: string
  readonly model: string
  /** The credentials of the request, and whatever else must never be repeated. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/**
 * The text with every secret of this source masked, wherever it stands in it: as it is, escaped for JSON or a URL, in
 * base64, whole, or a piece of at least 8 characters.
 */
export const scrub = (self: Source, text: string): string => maskOf(self)(text)

/** Made once for the secrets of a source: errors are rare, but each has many texts. */
const masks = new WeakMap<ReadonlyArray<Redacted.Redacted>, Mask>()

const maskOf = ({ secrets }: Source): Mask => {
  const known = masks.get(secrets)
  if (known !== undefined) return known
  const made = mask(secrets.map((secret) => Redacted.value(secret).trim()))
  masks.set(secrets, made)
  return made
}

/** Only the beginning of a text is quoted, so that only the beginning is searched. */
const searched = 10_000

/** Foreign words as an error may quote them: scrubbed, whatever looks like a credential masked, at most 1000 characters. */
export const quote = (self: Source, text: string): string =>
  ErrorCause.mask(scrub(self, text.slice(0, searched)).trim())

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
