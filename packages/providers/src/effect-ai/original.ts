/** Restores the original of an error that was converted to `effect/ai` and back. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as AiError from "effect/ai/AiError"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The key of our own data in the metadata of `effect/ai`. */
export const ours = "kintsugi"

const codec = Schema.toCodecJson(LlmError.LlmError)

/** The error of this library behind a reason: in memory it is the cause, after serialisation it is in the metadata. */
export const originalOf = (reason: AiError.AiErrorReason): LlmError.LlmError | undefined => {
  const beneath: unknown = reason.cause
  if (LlmError.isLlmError(beneath)) return beneath
  const written = "metadata" in reason ? reason.metadata[ours] : undefined
  if (written === undefined || written === null) return undefined
  return Option.getOrUndefined(Schema.decodeUnknownOption(codec)(written))
}

/** An error of this library as metadata; empty if its own schema refuses it, because its fields were never checked. */
export const writtenDown = (error: LlmError.LlmError): AiError.ProviderMetadata => {
  const encoded = Result.try(() => Schema.encodeUnknownResult(codec)(error))
  if (Result.isFailure(encoded) || Result.isFailure(encoded.success)) return {}
  // the JSON codec encodes to JSON
  const json = encoded.success.success as Schema.MutableJson
  return Predicate.isObject(json) ? { [ours]: json } : {}
}
