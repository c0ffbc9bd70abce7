/** Names within a path: the name of a model, a deployment or a job is one segment of it, and leads to no other path. */
import * as LlmError from "@kintsugi/core/LlmError"
import type { Codec } from "../codec/Codec.ts"
import type * as Source from "../transport/Source.ts"

/**
 * The name, escaped as one segment of a path. `undefined` where no escape makes it one: `.` and `..`, however they are escaped, lead to
 * another path, an empty name leads to the path before it, and half a surrogate pair is no text.
 */
export const segment = (name: string): string | undefined =>
  /^\.{0,2}$/.test(name) || !name.isWellFormed() ? undefined : encodeURIComponent(name)

/** The codec of a model whose name is no segment: it refuses each request, so that nothing is sent. */
export const refusing = (codec: Codec, { model, provider }: Source.Source): Codec => ({
  ...codec,
  refuses: () =>
    new LlmError.InvalidRequestError({
      model,
      provider,
      message: `The request to model '${model}' was not sent: its name is no single segment of a path`
    })
})
