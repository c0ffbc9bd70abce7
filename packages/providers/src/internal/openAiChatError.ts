/** What the errors of `POST /chat/completions` are called, by OpenAI and by those who speak its format. */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../Answer.ts"
import * as Classify from "../Classify.ts"
import type { Codes, Report } from "../Report.ts"
import type { Source } from "../Source.ts"
import * as Json from "./json.ts"

/** Any answer with an error in its body, or none that can be read. */
export const classify = (source: Source, answer: Answer): LlmError => {
  const body = Json.parse(answer.body)
  const report = Result.isSuccess(body) ? reportOf(body.success) : undefined
  return Classify.failure(source, answer, report ?? { codes: [], text: plain(answer.body) }, codes)
}

/** The error that a body or an event holds, if it holds one. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  const error = Json.field(json, "error")
  if (error === undefined || error === null || error === "") return undefined
  const report = reportOf(json)
  return report === undefined ? undefined : Classify.failure(source, answer, report, codes)
}

/** An error that stands for itself, without a body that names it. */
export const named = (source: Source, answer: Answer, code: string, text: string): LlmError =>
  Classify.failure(source, answer, { codes: [code], text }, codes)

/** The words of a body that is no JSON; the page of some gateway has none. */
const plain = (body: string): string => {
  const text = body.trim()
  return text.startsWith("<") ? "" : text
}

/** An object under `error`, a text there, or the fields at the top. */
const reportOf = (json: Schema.Json): Report | undefined => {
  const error = Json.field(json, "error") ?? json
  if (Predicate.isString(error)) return { codes: [], text: error }
  if (!Predicate.isObject(error)) return undefined
  const raw = Json.text(Json.field(Json.field(error, "metadata"), "raw"))
  const upstream = raw === undefined ? undefined : upstreamOf(raw)
  const param = Json.text(Json.field(error, "param"))
  const status = statusOf(Json.field(error, "code")) ?? statusOf(Json.field(error, "status"))
  const tool = toolOf(Json.text(Json.field(error, "failed_generation")))
  return {
    codes: [
      Json.text(Json.field(Json.field(error, "innererror"), "code")),
      Json.text(Json.field(error, "code")),
      Json.text(Json.field(error, "type")),
      ...(upstream?.codes ?? [])
    ].filter(Predicate.isNotUndefined),
    text: [Json.text(Json.field(error, "message")) ?? Json.text(Json.field(error, "detail")), upstream?.text]
      .filter(Predicate.isNotUndefined)
      .join(": "),
    ...(status === undefined ? {} : { status }),
    ...(param === undefined ? {} : { param }),
    ...(tool === undefined ? {} : { tool })
  }
}

/** What a router passes on from the provider behind it: the body of that one, or its words. */
const upstreamOf = (raw: string): Report => {
  const body = Json.parse(raw)
  const error = Result.isSuccess(body) ? Json.field(body.success, "error") : undefined
  if (error === undefined) return { codes: [], text: raw }
  const names = [Json.text(Json.field(error, "code")), Json.text(Json.field(error, "type"))]
  return {
    codes: names.filter(Predicate.isNotUndefined),
    text: Json.text(error) ?? Json.text(Json.field(error, "message")) ?? raw
  }
}

const statusOf = (code: Schema.Json | undefined): number | undefined => {
  const status = Predicate.isString(code) && /^\d{3}$/.test(code) ? Number(code) : Json.count(code)
  return status !== undefined && status >= 400 && status < 600 ? status : undefined
}

const toolOf = (generation: string | undefined): string | undefined =>
  generation === undefined ? undefined : /"name"\s*:\s*"([^"]+)"/.exec(generation)?.[1]

const codes: Codes = {
  invalid_api_key: "AuthenticationError",
  authentication_error: "AuthenticationError",
  invalid_authentication_error: "AuthenticationError",
  permission_error: "AuthenticationError",
  permission_denied: "AuthenticationError",
  access_terminated_error: "AuthenticationError",
  account_deactivated: "AuthenticationError",
  model_not_found: "ModelNotFoundError",
  not_found_error: "ModelNotFoundError",
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
  request_too_large: "ContextTooLongError",
  unsupported_value: "CapabilityMismatchError",
  unsupported_parameter: "CapabilityMismatchError",
  tool_use_failed: "MalformedToolCallError",
  insufficient_quota: "QuotaExhaustedError",
  exceeded_current_quota_error: "QuotaExhaustedError",
  billing_hard_limit_reached: "QuotaExhaustedError",
  billing_not_active: "QuotaExhaustedError",
  billing_error: "QuotaExhaustedError",
  rate_limit_exceeded: "RateLimitError",
  rate_limit_error: "RateLimitError",
  rate_limit_reached_error: "RateLimitError",
  engine_overloaded_error: "ModelOverloadedError",
  overloaded_error: "ModelOverloadedError",
  service_unavailable_error: "ModelOverloadedError",
  insufficient_system_resource: "ModelOverloadedError",
  timeout_error: "RequestTimeoutError"
}
