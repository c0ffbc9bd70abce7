/** What the errors of `POST /chat/completions` are called, by OpenAI and by those who speak its format. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Codes, Report } from "../../classify/Report.ts"
import type { Source } from "../../transport/Source.ts"
import * as AnthropicError from "../anthropic/error.ts"
import * as ErrorBody from "../../classify/body.ts"
import * as GeminiError from "../gemini/error.ts"
import * as FailedGeneration from "../../classify/failedGeneration.ts"
import * as Json from "../../transport/json.ts"

/** Any answer with an error in its body, or none that can be read. */
export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

/** Every error in a body or an event: one that it reports, and a reply that ended as none. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  const error = reported(source, answer, json)
  if (error !== undefined) return error
  const choice = firstChoice(json)
  const reason = Json.text(Json.field(choice, "finish_reason"))
  const refusal = refusalOf(Json.field(choice, "message")) ?? refusalOf(Json.field(choice, "delta"))
  return ended(source, answer, { reason, refusal })
}

/** What a model said instead of a reply, in a message or a delta: beside its content or as a part of it. */
export const refusalOf = (message: Schema.Json | undefined): string | undefined =>
  Json.text(Json.field(message, "refusal")) ??
  Json.text(
    Json.items(Json.field(message, "content"))
      .map((part) => Json.text(Json.field(part, "refusal")) ?? "")
      .join("")
  )

/** The error that a body or an event reports, at its top or in its choice, with what the attempt is known to have used up. */
export const reported = (
  source: Source,
  answer: Answer,
  json: Schema.Json,
  usage?: Usage.Usage,
  event?: string
): LlmError | undefined => {
  const read = (json: Schema.Json): Report | undefined => {
    const report = reportOf(json)
    return report === undefined || usage === undefined ? report : { ...report, usage }
  }
  const flat = isFlat(json, event) ? read(json) : undefined
  return (
    ErrorBody.inside({ codes, read }, source, answer, json) ??
    ErrorBody.inside({ codes, read }, source, answer, { error: Json.field(firstChoice(json), "error") ?? null }) ??
    (flat === undefined ? undefined : failure(source, answer, flat))
  )
}

/** Some say that an object is an error by its kind, or by the name of the event, and put its fields at the top. */
const isFlat = (json: Schema.Json, event: string | undefined): boolean =>
  event === "error" || Json.field(json, "object") === "error" || Json.field(json, "type") === "error"

/** The error of a reply that the model refused, or that broke off. A refusal is a filtered reply, though its reason is `stop`. */
export const ended = (source: Source, answer: Answer, { reason, refusal, usage }: Ending): LlmError | undefined => {
  const failed = (code: string, text: string) =>
    failure(source, answer, { codes: [code], text, ...(usage === undefined ? {} : { usage }) })
  if (refusal !== undefined) return failed("content_filter", refusal)
  if (reason === "content_filter") return failed(reason, "a content filter cut the reply off")
  if (reason === "error") return failed("server_error", "the model broke off")
  if (reason !== "insufficient_system_resource") return undefined
  return failed(reason, "the answer was broken off by load")
}

/** How a reply ended, in the provider's words, and what it used up. */
export interface Ending {
  readonly reason: string | undefined
  readonly refusal: string | undefined
  readonly usage?: Usage.Usage | undefined
}

/**
 * The only choice that is ever asked for, wherever it stands. Where none is the first, a whole one is taken for it, but no
 * piece.
 */
export const firstChoice = (body: Schema.Json): Schema.Json | undefined => {
  const choices = Json.items(Json.field(body, "choices"))
  return (
    choices.find((choice) => (Json.count(Json.field(choice, "index")) ?? 0) === 0) ??
    choices.find((choice) => Predicate.isObject(Json.field(choice, "message")))
  )
}

export const failure = (source: Source, answer: Answer, report: Report): LlmError =>
  Classify.failure(source, answer, report, codes)

/** What all formats tell, and what routers add about the servers behind them. */
const reportOf = (json: Schema.Json): Report | undefined => {
  const own = ErrorBody.reportOf(json)
  if (own === undefined) return undefined
  const error = ErrorBody.errorOf(json)
  const metadata = Json.field(error, "metadata")
  const upstream = upstreamOf(Json.field(metadata, "raw"))
  return {
    ...upstream,
    ...own,
    codes: [...namesIn(metadata), ...own.codes, ...(upstream?.codes ?? [])],
    text: [own.text, upstream?.text ?? ""].filter((text) => text !== "").join(": "),
    headers: headersIn(metadata),
    ...FailedGeneration.read(Json.text(Json.field(error, "failed_generation")))
  }
}

/** Which limit was hit, and whether a moderator held the request back: OpenRouter sends these without a code. */
const namesIn = (metadata: Schema.Json | undefined): ReadonlyArray<string> => {
  const limit = Json.text(Json.field(metadata, "limit_source"))
  const flagged =
    Json.items(Json.field(metadata, "reasons")).length > 0 ||
    Json.text(Json.field(metadata, "flagged_input")) !== undefined
  return [...(limit === undefined ? [] : [limit]), ...(flagged ? ["flagged_input"] : [])]
}

const headersIn = (metadata: Schema.Json | undefined): Readonly<Record<string, string>> => {
  const headers = Json.field(metadata, "headers")
  if (!Predicate.isObject(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (Predicate.isString(value) ? [[name.toLowerCase(), value]] : []))
  )
}

/** What a router passes on from the provider behind it: the body of that one, or its words. */
const upstreamOf = (raw: Schema.Json | undefined): Report | undefined => {
  const text = Json.text(raw)
  if (text === undefined) return ErrorBody.reportOf(raw ?? null)
  const body = Json.parse(text)
  const report = Result.isSuccess(body) ? ErrorBody.reportOf(body.success) : undefined
  return report === undefined || report.text === "" ? { codes: [], ...report, text: ErrorBody.plain(text) } : report
}

/** A router passes on the names of those behind it. */
export const codes: Codes = {
  ...AnthropicError.codes,
  ...GeminiError.codes,
  invalid_api_key: "AuthenticationError",
  invalid_authentication_error: "AuthenticationError",
  access_terminated_error: "AuthenticationError",
  account_deactivated: "AuthenticationError",
  model_not_found: "ModelNotFoundError",
  resource_not_found_error: "ModelNotFoundError",
  invalid_model: "ModelNotFoundError",
  content_filter: "ContentFilteredError",
  content_policy_violation: "ContentFilteredError",
  responsibleaipolicyviolation: "ContentFilteredError",
  invalid_prompt: "ContentFilteredError",
  cyber_policy: "ContentFilteredError",
  bio_policy: "ContentFilteredError",
  context_length_exceeded: "ContextTooLongError",
  too_many_prompt_tokens: "ContextTooLongError",
  unsupported_value: "CapabilityMismatchError",
  unsupported_parameter: "CapabilityMismatchError",
  tool_use_failed: "MalformedToolCallError",
  insufficient_quota: "QuotaExhaustedError",
  exceeded_current_quota_error: "QuotaExhaustedError",
  billing_hard_limit_reached: "QuotaExhaustedError",
  billing_not_active: "QuotaExhaustedError",
  rate_limit_exceeded: "RateLimitError",
  rate_limit_reached_error: "RateLimitError",
  engine_overloaded_error: "ModelOverloadedError",
  service_unavailable_error: "ModelOverloadedError",
  insufficient_system_resource: "ModelOverloadedError",
  permission_denied_error: "AuthenticationError",
  incorrect_api_key_error: "AuthenticationError",
  model_decommissioned: "ModelNotFoundError",
  flagged_input: "ContentFilteredError",
  image_content_policy_violation: "ContentFilteredError",
  openrouter_credits: "QuotaExhaustedError",
  openrouter_key_limit: "QuotaExhaustedError",
  openrouter_guardrail_budget: "QuotaExhaustedError",
  openrouter_workspace_budget: "QuotaExhaustedError",
  openrouter_in_flight_budget: "RateLimitError",
  engine_overloaded: "ModelOverloadedError",
  server_is_overloaded: "ModelOverloadedError",
  slow_down: "ModelOverloadedError",
  vector_store_timeout: "RequestTimeoutError",
  invalid_image: "InvalidRequestError",
  invalid_image_format: "InvalidRequestError",
  invalid_base64_image: "InvalidRequestError",
  invalid_image_url: "InvalidRequestError",
  invalid_image_mode: "InvalidRequestError",
  image_too_large: "InvalidRequestError",
  image_too_small: "InvalidRequestError",
  image_parse_error: "InvalidRequestError",
  image_file_too_large: "InvalidRequestError",
  image_file_not_found: "InvalidRequestError",
  empty_image_file: "InvalidRequestError",
  unsupported_image_media_type: "InvalidRequestError",
  failed_to_download_image: "InvalidRequestError"
}

export const format: ErrorBody.Format = { codes, read: reportOf }
