/** Errors within successful answers, errors that routers pass on, and what an error keeps of its answer. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Report from "../../../packages/providers/src/classify/Report.ts"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Schema } from "effect"
import { answer, type Api, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const classify = (api: Api, status: number, body: unknown, headers?: Readonly<Record<string, string>>) =>
  formats[api].classify(source, answer(status, body, headers))

const json = (value: unknown) => Schema.decodeUnknownSync(Schema.Json)(value)

const inside = (api: Api, value: unknown) => formats[api].inside(source, answer(200, ""), json(value))

const google = (status: string, message: string, ...details: ReadonlyArray<object>) => ({
  error: { message, status, details }
})

const flat = { type: "error", sequence_number: 2, param: null }
const response = (fields: object) => ({
  type: "response.failed",
  response: { status: "failed", error: null, ...fields }
})
const choice = (fields: object) => ({ choices: [{ index: 0, ...fields }] })
const candidate = (finishReason: string) => ({ candidates: [{ content: {}, finishReason }] })

const successes: ReadonlyArray<readonly [Api, unknown, Report.Tag | undefined]> = [
  ["anthropic", { type: "error", error: { type: "api_error", message: "Overloaded" } }, "ModelOverloadedError"],
  ["anthropic", { type: "error", error: { type: "invalid_request_error", message: "x" } }, "InvalidRequestError"],
  ["anthropic", { type: "error" }, "ServerError"],
  ["anthropic", { type: "message_delta", delta: { stop_reason: "refusal" } }, "ContentFilteredError"],
  ["anthropic", { type: "message_delta", delta: { stop_reason: "model_context_window_exceeded" } }, undefined],
  ["anthropic", { type: "message", stop_reason: "pause_turn", content: [] }, undefined],
  ["anthropic", { type: "ping" }, undefined],
  ["openai-chat", { error: { code: 503, message: "x" }, choices: [] }, "ModelOverloadedError"],
  ["openai-chat", { error: { code: 400, message: "Token limit reached" } }, "InvalidRequestError"],
  ["openai-chat", choice({ finish_reason: "error", error: { code: 429, message: "x" } }), "RateLimitError"],
  ["openai-chat", choice({ finish_reason: "error", delta: {} }), "ServerError"],
  ["openai-chat", choice({ finish_reason: "insufficient_system_resource" }), "ModelOverloadedError"],
  ["openai-chat", choice({ finish_reason: "content_filter", message: {} }), "ContentFilteredError"],
  ["openai-chat", choice({ finish_reason: "stop", message: { refusal: "no" } }), "ContentFilteredError"],
  ["openai-chat", choice({ finish_reason: null, delta: { refusal: "I'm" } }), "ContentFilteredError"],
  ["openai-chat", choice({ finish_reason: "length", message: { refusal: null } }), undefined],
  ["openai-chat", { error: null, choices: [] }, undefined],
  ["openai-chat", { type: "error", code: "rate_limit_exceeded", message: "x" }, "RateLimitError"],
  ["openai-chat", { type: "text", code: "rate_limit_exceeded", message: "x" }, undefined],
  ["openai-responses", { ...flat, code: "rate_limit_exceeded", message: "x" }, "RateLimitError"],
  ["openai-responses", { ...flat, code: null, message: "The server had an error", type: "error" }, "UnknownLlmError"],
  ["openai-responses", { ...flat, error: { type: "invalid_request_error", code: "x" } }, "InvalidRequestError"],
  ["openai-responses", response({ error: { code: "server_error", message: "x" } }), "ServerError"],
  ["openai-responses", response({ error: { code: "invalid_prompt", message: "x" } }), "ContentFilteredError"],
  ["openai-responses", response({ error: { code: "image_too_large", message: "x" } }), "InvalidRequestError"],
  ["openai-responses", response({}), "ServerError"],
  ["openai-responses", { type: "response.failed" }, "ServerError"],
  ["openai-responses", { status: "failed", error: { code: "rate_limit_exceeded" } }, "RateLimitError"],
  [
    "openai-responses",
    { type: "response.incomplete", response: { incomplete_details: { reason: "content_filter" } } },
    "ContentFilteredError"
  ],
  [
    "openai-responses",
    { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, error: null },
    undefined
  ],
  ["openai-responses", { output: [{ content: [{ type: "refusal", refusal: "no" }] }] }, "ContentFilteredError"],
  [
    "openai-responses",
    { output: [{ content: [{ type: "output_text", text: "I" }] }, { content: [{}, { refusal: "no" }] }] },
    "ContentFilteredError"
  ],
  ["openai-responses", { type: "response.refusal.delta", delta: "n" }, undefined],
  ["openai-responses", { type: "response.refusal.done", refusal: "no" }, "ContentFilteredError"],
  ["gemini", { error: { code: 503, message: "x", status: "UNAVAILABLE" } }, "ModelOverloadedError"],
  ["gemini", [candidate("STOP"), { error: { code: 500, status: "INTERNAL" } }], "ServerError"],
  ["gemini", [candidate("STOP"), candidate("SAFETY")], "ContentFilteredError"],
  ["gemini", { promptFeedback: { blockReason: "OTHER" } }, "ContentFilteredError"],
  ["gemini", { promptFeedback: {}, ...candidate("STOP") }, undefined],
  ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"].map(
    (reason) => ["gemini", candidate(reason), "ContentFilteredError"] as const
  ),
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"].map(
    (reason) => ["gemini", candidate(reason), "MalformedToolCallError"] as const
  ),
  ...["STOP", "MAX_TOKENS", "OTHER", "TOO_MANY_TOOL_CALLS"].map(
    (reason) => ["gemini", candidate(reason), undefined] as const
  ),
  ["ollama", { error: "an error was encountered while running the model: unexpected EOF" }, "ServerError"],
  ["ollama", { error: "server busy, please try again" }, "ModelOverloadedError"],
  ["ollama", { message: { role: "assistant", content: "error" }, done: false }, undefined],
  ["ollama", { done: true, done_reason: "length", error: "" }, undefined]
]

describe("successes", () => {
  for (const [api, value, tag] of successes) {
    it(`finds ${tag ?? "no error"} in a 200 of ${api}: ${JSON.stringify(value).slice(0, 100)} [T8]`, () => {
      assert.strictEqual(inside(api, value)?._tag, tag)
    })
  }

  it("a refusal of the model differs from a content filter, in each format that distinguishes them [P1341]", () => {
    for (const [api, value, kind] of [
      ["anthropic", { type: "message_delta", delta: { stop_reason: "refusal" } }, "refusal"],
      ["openai-chat", choice({ finish_reason: "stop", message: { refusal: "no" } }), "refusal"],
      ["openai-chat", choice({ finish_reason: "content_filter", message: {} }), "filter"],
      ["openai-responses", { output: [{ content: [{ type: "refusal", refusal: "no" }] }] }, "refusal"],
      ["openai-responses", { type: "response.refusal.done", refusal: "no" }, "refusal"],
      [
        "openai-responses",
        { type: "response.incomplete", response: { incomplete_details: { reason: "content_filter" } } },
        "filter"
      ],
      ["gemini", candidate("SAFETY"), "filter"],
      ["gemini", { promptFeedback: { blockReason: "OTHER" } }, "filter"]
    ] as const) {
      const error = inside(api, value)
      assert(error instanceof LlmError.ContentFilteredError)
      assert.strictEqual(error.kind, kind, JSON.stringify(value))
      assert.include(error.message, kind === "refusal" ? "refused to answer" : "filtered the content")
      assert.deepStrictEqual(Schema.decodeSync(LlmError.LlmError)(Schema.encodeSync(LlmError.LlmError)(error)), error)
    }
  })

  it("an unknown error line of Ollama is a failure of its runner [T8]", () => {
    assert.strictEqual(inside("ollama", { error: "never seen" })?._tag, "ServerError")
    assert.strictEqual(classify("ollama", 400, { error: "never seen" })._tag, "InvalidRequestError")
  })

  it("names the tool of a call that Gemini could not read [T8]", () => {
    const finish = { finishReason: "MALFORMED_FUNCTION_CALL" }
    const named = inside("gemini", {
      candidates: [{ ...finish, finishMessage: "Malformed function call: print(default_api.search(q=1" }]
    })
    assert(named instanceof LlmError.MalformedToolCallError)
    assert.strictEqual(named.tool, "search")
    const called = inside("gemini", {
      candidates: [{ ...finish, content: { parts: [{ text: "" }, { functionCall: { name: "find" } }] } }]
    })
    assert(called instanceof LlmError.MalformedToolCallError)
    assert.strictEqual(called.tool, "find")
  })
})

describe("routers", () => {
  const passed = (status: number, raw: unknown, metadata: object = {}) =>
    classify("openai-chat", status, {
      error: { code: status, message: "Provider returned error", metadata: { ...metadata, raw } }
    })

  it("reads the errors of every format behind a router [T8 T35]", () => {
    const rows: ReadonlyArray<readonly [unknown, Report.Tag]> = [
      [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "ModelOverloadedError"],
      [google("RESOURCE_EXHAUSTED", "You exceeded your current quota"), "RateLimitError"],
      [[google("RESOURCE_EXHAUSTED", "x", { violations: [{ quotaId: "aPerDay" }] })], "QuotaExhaustedError"],
      [google("INVALID_ARGUMENT", "x", { reason: "API_KEY_INVALID" }), "AuthenticationError"],
      [{ error: { code: "context_length_exceeded" } }, "ContextTooLongError"],
      [{ error: "prompt is too long: 20 tokens > 10 maximum" }, "ContextTooLongError"]
    ]
    for (const [raw, tag] of rows) {
      assert.strictEqual(passed(400, JSON.stringify(raw))._tag, tag)
      assert.strictEqual(passed(400, raw)._tag, tag)
    }
  })

  it("a full in-flight budget is a rate limit, though its status is that of an empty account [T8]", () => {
    const metadata = { limit_source: "openrouter_in_flight_budget" }
    const error = classify("openai-chat", 402, { error: { code: 402, message: "x", metadata } }, { "retry-after": "7" })
    assert(error instanceof LlmError.RateLimitError)
    assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
    assert.isTrue(error.isRetryable)
  })
})

describe("what an error keeps [L1104]", () => {
  it("finds the request id in headers, and in Anthropic's body [L1104]", () => {
    const body = { type: "error", error: { type: "api_error", message: "x" }, request_id: "req_body" }
    assert.strictEqual(classify("anthropic", 500, body).requestId, "req_body")
    assert.strictEqual(classify("anthropic", 500, body, { "request-id": "req_head" }).requestId, "req_head")
    assert.strictEqual(
      classify("anthropic", 500, body, { "x-request-id": "", "request-id": "req_head" }).requestId,
      "req_head"
    )
    assert.strictEqual(inside("anthropic", body)?.requestId, "req_body")
  })

  it("has what is left of the limit that is nearest to its end [L1104]", () => {
    const remaining = (headers: Readonly<Record<string, string>>) => {
      const error = classify("anthropic", 429, "", headers)
      assert(error instanceof LlmError.RateLimitError)
      return error.remainingQuota
    }
    const name = (what: string) => `anthropic-ratelimit-${what}-remaining`
    assert.strictEqual(remaining({ [name("requests")]: "48", [name("input-tokens")]: "0" }), 0)
    assert.strictEqual(remaining({ [name("requests")]: "4", [name("tokens")]: "1000" }), 4)
    assert.strictEqual(remaining({ "x-ratelimit-remaining": "3" }), 3)
    assert.strictEqual(remaining({ "x-ratelimit-remaining-tokens": "", "x-ratelimit-limit": "9" }), undefined)
  })
})
