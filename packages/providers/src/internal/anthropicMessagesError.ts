/** What the errors of Anthropic's Messages are called. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../Answer.ts"
import * as Classify from "../Classify.ts"
import type { Codes } from "../Report.ts"
import type { Source } from "../Source.ts"
import * as ErrorBody from "./errorBody.ts"
import * as Json from "./json.ts"

/** `invalid_request_error` and `api_error` are missing: they are sent for everything, from a bill to an overload. */
export const codes: Codes = {
  authentication_error: "AuthenticationError",
  permission_error: "AuthenticationError",
  not_found_error: "ModelNotFoundError",
  request_too_large: "ContextTooLongError",
  rate_limit_error: "RateLimitError",
  billing_error: "QuotaExhaustedError",
  overloaded_error: "ModelOverloadedError",
  timeout_error: "RequestTimeoutError"
}

const format: ErrorBody.Format = { codes, read: ErrorBody.reportOf }

export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

/** An `error` event, at any point of a stream; a message, or the end of one, that the model refused. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  const error = ErrorBody.inside(format, source, answer, json)
  if (error !== undefined) return error
  if (Json.field(json, "type") === "error") {
    return Classify.failure(source, answer, { codes: ["api_error"], text: "" }, codes)
  }
  return refusal(source, answer, json) ?? refusal(source, answer, Json.field(json, "delta"))
}

const refusal = (source: Source, answer: Answer, end: Schema.Json | undefined): LlmError | undefined => {
  if (Json.field(end, "stop_reason") !== "refusal") return undefined
  const text = Json.text(Json.field(Json.field(end, "stop_details"), "explanation")) ?? ""
  return Classify.failure(source, answer, { codes: ["refusal"], text }, { refusal: "ContentFilteredError" })
}
