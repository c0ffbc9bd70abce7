/** The class of each provider code: a second copy of the tables, so that no single mistake changes both. */
import { assert, describe, it } from "@effect/vitest"
import type * as Report from "../../../packages/providers/src/classify/Report.ts"
import type * as Provider from "@kintsugi/providers/Provider"
import { answer, type Api, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

type Codes = Readonly<Partial<Record<Report.Tag, ReadonlyArray<string>>>>

const anthropic: Codes = {
  AuthenticationError: ["authentication_error", "permission_error"],
  ModelNotFoundError: ["not_found_error"],
  ContextTooLongError: ["request_too_large"],
  RateLimitError: ["rate_limit_error"],
  QuotaExhaustedError: ["billing_error", "enforced_spend_limit_reached"],
  ModelOverloadedError: ["overloaded_error"],
  RequestTimeoutError: ["timeout_error"]
}

const gemini: Codes = {
  AuthenticationError: ["API_KEY_INVALID", "UNAUTHENTICATED", "PERMISSION_DENIED"],
  ModelNotFoundError: ["NOT_FOUND"],
  RateLimitError: ["RESOURCE_EXHAUSTED"],
  ModelOverloadedError: ["UNAVAILABLE"],
  RequestTimeoutError: ["DEADLINE_EXCEEDED"]
}

const openAi: Codes = {
  AuthenticationError: [
    "invalid_api_key",
    "invalid_authentication_error",
    "access_terminated_error",
    "account_deactivated",
    "permission_denied_error",
    "incorrect_api_key_error"
  ],
  ModelNotFoundError: ["model_not_found", "resource_not_found_error", "invalid_model", "model_decommissioned"],
  ContentFilteredError: [
    "content_filter",
    "content_policy_violation",
    "ResponsibleAIPolicyViolation",
    "invalid_prompt",
    "cyber_policy",
    "bio_policy",
    "flagged_input",
    "image_content_policy_violation"
  ],
  ContextTooLongError: ["context_length_exceeded", "too_many_prompt_tokens"],
  CapabilityMismatchError: ["unsupported_value", "unsupported_parameter"],
  MalformedToolCallError: ["tool_use_failed"],
  QuotaExhaustedError: [
    "insufficient_quota",
    "exceeded_current_quota_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "openrouter_credits",
    "openrouter_key_limit",
    "openrouter_guardrail_budget",
    "openrouter_workspace_budget"
  ],
  RateLimitError: ["rate_limit_exceeded", "rate_limit_reached_error", "openrouter_in_flight_budget"],
  ModelOverloadedError: [
    "engine_overloaded_error",
    "service_unavailable_error",
    "insufficient_system_resource",
    "engine_overloaded",
    "server_is_overloaded",
    "slow_down"
  ],
  RequestTimeoutError: ["vector_store_timeout"],
  InvalidRequestError: [
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "invalid_image_mode",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_file_too_large",
    "image_file_not_found",
    "empty_image_file",
    "unsupported_image_media_type",
    "failed_to_download_image"
  ]
}

const samples: ReadonlyArray<readonly [Api, Codes, (code: string) => unknown]> = [
  ["anthropic", anthropic, (type) => ({ type: "error", error: { type, message: "x" } })],
  ["gemini", gemini, (status) => ({ error: { status, message: "x" } })],
  ...([anthropic, gemini, openAi] as const).flatMap((codes) =>
    (["openai-chat", "openai-responses"] as const).map(
      (api) => [api, codes, (code: string) => ({ error: { code, message: "x", param: "tools" } })] as const
    )
  )
]

describe("a code overrides the status beside it", () => {
  const rows = samples.flatMap(([api, codes, bodyOf]) =>
    Object.entries(codes).flatMap(([tag, names]) => names.map((code) => [api, code, tag, bodyOf(code)] as const))
  )

  it.each(rows)("%s: %s is %s", (api, code, tag, body) => {
    // what the status alone would say is another class
    const status = tag === "InvalidRequestError" ? 500 : 400
    assert.strictEqual(formats[api].classify(source, answer(status, body))._tag, tag, code)
  })
})

describe("the reason for which Gemini ends a reply without one", () => {
  const reasons: Codes = {
    ContentFilteredError: [
      "SAFETY",
      "RECITATION",
      "LANGUAGE",
      "BLOCKLIST",
      "PROHIBITED_CONTENT",
      "SPII",
      "MODEL_ARMOR",
      "IMAGE_SAFETY",
      "IMAGE_PROHIBITED_CONTENT",
      "IMAGE_RECITATION"
    ],
    MalformedToolCallError: ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"],
    InvalidRequestError: ["MISSING_THOUGHT_SIGNATURE"],
    ServerError: ["MALFORMED_RESPONSE"]
  }
  const rows = Object.entries(reasons).flatMap(([tag, names]) => names.map((reason) => [reason, tag] as const))

  it.each(rows)("%s is %s", (finishReason, tag) => {
    const reply = { candidates: [{ content: { role: "model", parts: [] }, finishReason }] }
    assert.strictEqual(formats.gemini.inside(source, answer(200, reply), reply)?._tag, tag)
  })
})
