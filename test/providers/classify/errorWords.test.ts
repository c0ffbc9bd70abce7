/** Errors of providers beyond the recorded ones: one row for each documented message. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Report from "../../../packages/providers/src/classify/Report.ts"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration } from "effect"
import { answer, type Api, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const classify = (api: Api, status: number, body: unknown, headers?: Readonly<Record<string, string>>) =>
  formats[api].classify(source, answer(status, body, headers))

const google = (status: string, message: string, ...details: ReadonlyArray<object>) => ({
  error: { message, status, details }
})

const answers: ReadonlyArray<readonly [Api, number, unknown, Report.Tag]> = [
  ["anthropic", 400, { type: "error", error: { type: "invalid_request_error", message: "x" } }, "InvalidRequestError"],
  [
    "anthropic",
    400,
    { error: { type: "invalid_request_error", message: "Your credit balance is too low to access the API" } },
    "QuotaExhaustedError"
  ],
  [
    "anthropic",
    400,
    { error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" } },
    "ContentFilteredError"
  ],
  ["anthropic", 402, { error: { type: "billing_error" } }, "QuotaExhaustedError"],
  ["anthropic", 403, { error: { type: "permission_error" } }, "AuthenticationError"],
  ["anthropic", 413, { error: { type: "request_too_large" } }, "ContextTooLongError"],
  ["anthropic", 413, "<html>413</html>", "ContextTooLongError"],
  ["anthropic", 500, { error: { type: "api_error", message: "Overloaded" } }, "ModelOverloadedError"],
  ["anthropic", 500, { error: { type: "api_error", message: "Internal server error" } }, "ServerError"],
  ["anthropic", 504, { error: { type: "timeout_error" } }, "RequestTimeoutError"],
  ["anthropic", 529, "", "ModelOverloadedError"],
  ["openai-chat", 429, { error: { type: "server_error", message: "Slow down" } }, "ModelOverloadedError"],
  ["openai-chat", 503, { error: { type: "server_error", message: "currently overloaded" } }, "ModelOverloadedError"],
  ["openai-chat", 404, { error: { code: "model_not_found", message: "has been deprecated" } }, "ModelNotFoundError"],
  [
    "openai-chat",
    429,
    {
      error: {
        code: "rate_limit_exceeded",
        type: "tokens",
        message: "Request too large for m on tokens per min (TPM): Limit 30000, Requested 40000."
      }
    },
    "ContextTooLongError"
  ],
  [
    "openai-chat",
    429,
    {
      error: { code: "rate_limit_exceeded", message: "Limit 30000, Used 12, Requested 40000. Please try again in 20s" }
    },
    "ContextTooLongError"
  ],
  [
    "openai-chat",
    429,
    { error: { code: "rate_limit_exceeded", message: "Limit 30000, Used 29000, Requested 4000" } },
    "RateLimitError"
  ],
  // DeepSeek: its code says the same of everything
  [
    "openai-chat",
    401,
    { error: { code: "invalid_request_error", type: "authentication_error" } },
    "AuthenticationError"
  ],
  ["openai-chat", 402, { error: { code: "invalid_request_error", type: "unknown_error" } }, "QuotaExhaustedError"],
  ["openai-chat", 429, { error: { code: "invalid_request_error", type: "unknown_error" } }, "RateLimitError"],
  ["openai-chat", 500, { error: { code: "invalid_request_error", type: "server_error" } }, "ServerError"],
  ["openai-chat", 503, { error: { code: "invalid_request_error", type: "unknown_error" } }, "ModelOverloadedError"],
  ["openai-chat", 429, { error: { type: "invalid_request_error", message: "x" } }, "RateLimitError"],
  ["openai-chat", 408, { error: { type: "invalid_request_error", message: "x" } }, "RequestTimeoutError"],
  ["openai-chat", 400, { error: { type: "invalid_request_error", message: "Model Not Exist" } }, "ModelNotFoundError"],
  [
    "openai-chat",
    400,
    { error: { type: "invalid_request_error", message: "Content Exists Risk" } },
    "ContentFilteredError"
  ],
  ["openai-chat", 422, { error: { message: "Invalid parameters" } }, "InvalidRequestError"],
  // Kimi: three meanings of one status
  [
    "openai-chat",
    429,
    { error: { type: "rate_limit_reached_error", message: "please try again after 1 seconds" } },
    "RateLimitError"
  ],
  ["openai-chat", 429, { error: { type: "engine_overloaded_error", message: "x" } }, "ModelOverloadedError"],
  ["openai-chat", 429, { error: { type: "exceeded_current_quota_error", message: "x" } }, "QuotaExhaustedError"],
  ["openai-chat", 403, { error: { type: "exceeded_current_quota_error", message: "x" } }, "QuotaExhaustedError"],
  ["openai-chat", 401, { error: { type: "invalid_authentication_error" } }, "AuthenticationError"],
  ["openai-chat", 403, { error: { type: "access_terminated_error" } }, "AuthenticationError"],
  ["openai-chat", 404, { error: { type: "resource_not_found_error" } }, "ModelNotFoundError"],
  ["openai-chat", 404, { error: { message: "Not found the model X or Permission denied" } }, "ModelNotFoundError"],
  [
    "openai-chat",
    400,
    { error: { type: "invalid_request_error", message: "invalid temperature: only 1 is allowed for this model" } },
    "InvalidRequestError"
  ],
  // OpenRouter
  ["openai-chat", 400, { error: { code: 400, message: "x/y is not a valid model ID" } }, "ModelNotFoundError"],
  ["openai-chat", 404, { error: { code: 404, message: "No endpoints found for x/y" } }, "ModelNotFoundError"],
  [
    "openai-chat",
    404,
    { error: { code: 404, message: "No endpoints found that support image input" } },
    "CapabilityMismatchError"
  ],
  [
    "openai-chat",
    404,
    { error: { code: 404, message: "No endpoints found that support the provided 'tool_choice' value" } },
    "CapabilityMismatchError"
  ],
  [
    "openai-chat",
    402,
    {
      error: { code: 402, message: "This request requires more credits, or fewer max_tokens. You can only afford 20" }
    },
    "QuotaExhaustedError"
  ],
  [
    "openai-chat",
    402,
    { error: { code: 402, message: "Too many requests at once", metadata: { limit_source: "openrouter_key_limit" } } },
    "QuotaExhaustedError"
  ],
  [
    "openai-chat",
    403,
    { error: { code: 403, message: "Your input was flagged", metadata: { reasons: ["violence"] } } },
    "ContentFilteredError"
  ],
  [
    "openai-chat",
    403,
    { error: { code: 403, message: "x", metadata: { flagged_input: "how to" } } },
    "ContentFilteredError"
  ],
  ["openai-chat", 403, { error: { code: 403, message: "x", metadata: { reasons: [] } } }, "AuthenticationError"],
  ["openai-chat", 408, { error: { code: 408, message: "x" } }, "RequestTimeoutError"],
  [
    "openai-chat",
    429,
    { error: { code: 429, message: "Rate limit exceeded: free-models-per-min. " } },
    "RateLimitError"
  ],
  [
    "openai-chat",
    429,
    { error: { code: 429, message: "Rate limit exceeded: free-models-per-day. " } },
    "QuotaExhaustedError"
  ],
  ["openai-chat", 502, { error: { code: 502, message: "x" } }, "ServerError"],
  ["openai-chat", 503, { error: { code: 503, message: "x" } }, "ModelOverloadedError"],
  // a Perplexity edge, xAI, Groq, Gemini's OpenAI side
  ["openai-chat", 401, "<html><head><title>401 Authorization Required</title></head></html>", "AuthenticationError"],
  [
    "openai-chat",
    400,
    { code: "Client specified an invalid argument", error: "Incorrect API key provided: xx. You can obtain one." },
    "AuthenticationError"
  ],
  [
    "openai-chat",
    400,
    { error: { code: "tool_use_failed", type: "invalid_request_error", failed_generation: '{"name": "f", "arg' } },
    "MalformedToolCallError"
  ],
  ["openai-chat", 429, [google("RESOURCE_EXHAUSTED", "You exceeded your current quota")], "RateLimitError"],
  ["openai-chat", 413, { error: { message: "x" } }, "ContextTooLongError"],
  ["openai-responses", 400, { error: { code: "model_not_found" } }, "ModelNotFoundError"],
  [
    "openai-responses",
    400,
    { error: { type: "invalid_request_error", code: null, message: "Item 'rs_1' of type 'reasoning' was provided" } },
    "InvalidRequestError"
  ],
  [
    "openai-responses",
    400,
    { error: { type: "invalid_request_error", message: "Web search options not supported with this model." } },
    "InvalidRequestError"
  ],
  ...["content_filter", "content_policy_violation", "invalid_prompt", "cyber_policy", "bio_policy"].map(
    (code) => ["openai-responses", 400, { error: { code, message: "x" } }, "ContentFilteredError"] as const
  ),
  ["gemini", 400, google("INVALID_ARGUMENT", "x", { reason: "API_KEY_INVALID" }), "AuthenticationError"],
  ["gemini", 400, google("INVALID_ARGUMENT", "x"), "InvalidRequestError"],
  [
    "gemini",
    400,
    google("INVALID_ARGUMENT", "Function calling is not enabled for models/x"),
    "CapabilityMismatchError"
  ],
  ["gemini", 400, google("INVALID_ARGUMENT", "topK has the limit: 0"), "InvalidRequestError"],
  ["gemini", 400, google("FAILED_PRECONDITION", "User location is not supported"), "InvalidRequestError"],
  ["gemini", 403, google("PERMISSION_DENIED", "Method doesn't allow unregistered callers"), "AuthenticationError"],
  ["gemini", 429, google("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), "RateLimitError"],
  ["gemini", 429, google("RESOURCE_EXHAUSTED", "exceeded: limit: 20, model: m"), "RateLimitError"],
  ["gemini", 429, google("RESOURCE_EXHAUSTED", "exceeded: limit: 0, model: m"), "QuotaExhaustedError"],
  [
    "gemini",
    429,
    google(
      "RESOURCE_EXHAUSTED",
      "You exceeded your current quota. Please retry in 2s.",
      {
        violations: [{ quotaId: "RequestsPerMinute" }, { quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }]
      },
      { retryDelay: "2s" }
    ),
    "QuotaExhaustedError"
  ],
  ["gemini", 500, google("INTERNAL", "An internal error has occurred"), "ServerError"],
  ["gemini", 503, google("UNAVAILABLE", "x"), "ModelOverloadedError"],
  ["gemini", 504, google("DEADLINE_EXCEEDED", "x"), "RequestTimeoutError"],
  ["gemini", 504, "", "ServerError"],
  ["gemini", 503, [google("UNAVAILABLE", "x")], "ModelOverloadedError"],
  ["gemini", 400, [{ status: "UNAVAILABLE", message: "x" }], "ModelOverloadedError"],
  ["gemini", 400, '[{\n  "error": {\n    "code": 400,\n    "message": "API key not valid. Ple', "AuthenticationError"],
  ["ollama", 404, { error: 'model "x:7b" not found, try pulling it first' }, "ModelNotFoundError"],
  ["ollama", 400, { error: '"x" does not support vision' }, "CapabilityMismatchError"],
  ["ollama", 400, { error: '"x" does not support thinking' }, "CapabilityMismatchError"],
  ["ollama", 400, { error: "registry.ollama.ai/library/x does not support chat" }, "CapabilityMismatchError"],
  [
    "anthropic",
    400,
    { error: { type: "invalid_request_error", message: "This model does not support effort level 'max'" } },
    "InvalidRequestError"
  ],
  ["ollama", 401, { error: "unauthorized", signin_url: "https://ollama.com" }, "AuthenticationError"],
  ["ollama", 403, { error: "ollama cloud is disabled" }, "AuthenticationError"],
  ["ollama", 500, { error: "llama runner process has terminated: out of memory" }, "ServerError"],
  [
    "ollama",
    500,
    { error: "error parsing tool call: raw='{\"limit the rate limit', err=eof" },
    "MalformedToolCallError"
  ],
  [
    "ollama",
    503,
    { error: "server busy, please try again.  maximum pending requests exceeded" },
    "ModelOverloadedError"
  ]
]

describe("answers", () => {
  for (const [api, status, body, tag] of answers) {
    it(`reads ${status} of ${api} as ${tag}: ${JSON.stringify(body).slice(0, 100)} [T8 T35]`, () => {
      assert.strictEqual(classify(api, status, body)._tag, tag)
    })
  }
})

describe("sizes", () => {
  const sizes: ReadonlyArray<readonly [string, number | undefined, number | undefined]> = [
    [
      "Prompt contains 40001 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      32768,
      40001
    ],
    ["the request exceeds the available context size. try increasing it", undefined, undefined],
    ["request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5000],
    ["Please reduce the length of the messages or completion.", undefined, undefined],
    ["invalid params, context window exceeds limit (2013)", undefined, undefined],
    ["the prompt is longer than the context length currently available to the model; x", undefined, undefined],
    ["the input length exceeds the context length", undefined, undefined],
    ["prompt is too long", undefined, undefined],
    ["The input token count exceeds the maximum number of tokens allowed 1048576.", 1_048_576, undefined],
    ["The input token count exceeds the maximum number of tokens allowed (10).", 10, undefined],
    ["maximum context length is 8192 tokens. However, your request has 9000 input tokens.", 8192, 9000],
    [`This model's maximum prompt length is 5 but the request contains ${"9".repeat(400)} tokens.`, 5, undefined]
  ]
  for (const [message, limit, actual] of sizes) {
    it(`reads the sizes of "${message.slice(0, 60)}" [T8]`, () => {
      for (const api of ["openai-chat", "ollama"] as const) {
        const error = classify(api, 400, { error: message })
        assert(error instanceof LlmError.ContextTooLongError)
        assert.strictEqual(error.limit, limit)
        assert.strictEqual(error.actual, actual)
      }
    })
  }

  it("takes no number from a sentence that was cut off within it [T8]", () => {
    const error = classify("anthropic", 400, '{"error":{"message":"prompt is too long: 333340 tokens > 20')
    assert(error instanceof LlmError.ContextTooLongError)
    assert.isUndefined(error.limit)
  })
})

it("the wait beside a daily quota is about another limit; any other quota takes it over [T15 T8]", () => {
  const daily = { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }
  const spent = classify(
    "gemini",
    429,
    google("RESOURCE_EXHAUSTED", "Please retry in 2s.", daily, { retryDelay: "2s" })
  )
  assert(spent instanceof LlmError.QuotaExhaustedError)
  assert.deepStrictEqual(spent.resetAfter, Duration.minutes(5))
  const broke = classify("openai-chat", 402, "", { "retry-after": "90" })
  assert(broke instanceof LlmError.QuotaExhaustedError)
  assert.deepStrictEqual(broke.resetAfter, Duration.seconds(90))
})
