/**
 * Escapes names for URL paths. The name of a model, a deployment or a job must be one path segment, so that it cannot lead to another path.
 */
import * as LlmError from "@kintsugi/core/LlmError"
import type { Codec } from "../codec/Codec.ts"
import type * as Source from "../transport/Source.ts"

/**
 * Escapes a name as one path segment. Returns `undefined` for a name that no escape makes a segment: `.` and `..` lead to another path
 * however they are escaped, an empty name leads to the parent path, and an unpaired surrogate is not a text.
 */
export const segment = (name: string): string | undefined =>
  /^\.{0,2}$/.test(name) || !name.isWellFormed() ? undefined : encodeURIComponent(name)

/** Makes the codec of a model whose name is not a valid path segment. It refuses each request, so nothing is sent. */
export const refusing = (codec: Codec, { model, provider }: Source.Source): Codec => ({
  ...codec,
  refuses: () =>
    new LlmError.InvalidRequestError({
      model,
      provider,
      message: `The request to model '${model}' was not sent: its name is not a single path segment`
    })
})
