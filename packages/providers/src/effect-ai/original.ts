/** Restores an error of this library that was converted to an error of `effect/ai`, even after serialisation. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as AiError from "effect/ai/AiError"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The key under which this library stores its own data in the metadata of `effect/ai`. */
export const ours = "kintsugi"

const codec = Schema.toCodecJson(LlmError.LlmError)

/**
 * The error of this library from which a reason was made, if any. In memory it is the cause of the reason, after serialisation it is in the
 * metadata.
 */
export const originalOf = (reason: AiError.AiErrorReason): LlmError.LlmError | undefined => {
  const beneath: unknown = reason.cause
  if (LlmError.isLlmError(beneath)) return beneath
  const written = "metadata" in reason ? reason.metadata[ours] : undefined
  return Option.getOrUndefined(Schema.decodeUnknownOption(codec)(written))
}

/**
 * Encodes an error of this library as metadata. Empty if the error's schema refuses it, because fields are not checked when an error is
 * made.
 */
export const writtenDown = (error: LlmError.LlmError): AiError.ProviderMetadata => {
  const encoded = Result.flatMap(
    Result.try(() => Schema.encodeUnknownResult(codec)(error)),
    (inner) => inner
  )
  // the codec is one to JSON, so its result is JSON
  const json = Result.getOrUndefined(encoded) as Schema.MutableJson | undefined
  return Predicate.isObject(json) ? { [ours]: json } : {}
}
