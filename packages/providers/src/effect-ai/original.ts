/** A failure that has been through `effect/ai` and back is the one that it was. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as AiError from "effect/ai/AiError"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The name under which our own data stand in the metadata of `effect/ai`. */
export const ours = "kintsugi"

const codec = Schema.toCodecJson(LlmError.LlmError)

/** The failure of ours that a reason was made of: in memory it lies beneath, on a wire it stands in the metadata. */
export const originalOf = (reason: AiError.AiErrorReason): LlmError.LlmError | undefined => {
  const beneath: unknown = reason.cause
  if (LlmError.isLlmError(beneath)) return beneath
  const written = "metadata" in reason ? reason.metadata[ours] : undefined
  if (written === undefined || written === null) return undefined
  return Option.getOrUndefined(Schema.decodeUnknownOption(codec)(written))
}

/** A failure of ours as metadata: nothing where its own schema refuses it, because nothing has checked it. */
export const writtenDown = (error: LlmError.LlmError): AiError.ProviderMetadata => {
  const encoded = Result.try(() => Schema.encodeUnknownResult(codec)(error))
  if (Result.isFailure(encoded) || Result.isFailure(encoded.success)) return {}
  // the codec of JSON encodes to JSON
  const json = encoded.success.success as Schema.MutableJson
  return Predicate.isObject(json) ? { [ours]: json } : {}
}
