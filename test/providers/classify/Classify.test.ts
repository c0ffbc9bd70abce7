import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Answer from "../../../packages/providers/src/transport/Answer.ts"
import * as Classify from "../../../packages/providers/src/classify/Classify.ts"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type * as Report from "../../../packages/providers/src/classify/Report.ts"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Schema } from "effect"
import * as fc from "fast-check"

const source: Provider.Source = { provider: "openai", model: "gpt-x", secrets: [] }

const codec = OpenAiChat.make(source)

const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer.Answer => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
  at: 0,
  elapsed: Duration.seconds(3)
})

const classify = (status: number, body: unknown, headers?: Readonly<Record<string, string>>) =>
  codec.classify(answer(status, body, headers))

describe("statuses", () => {
  const statuses: ReadonlyArray<readonly [ReadonlyArray<number>, Report.Tag]> = [
    [[401, 403], "AuthenticationError"],
    [[402], "QuotaExhaustedError"],
    [[404, 410], "ModelNotFoundError"],
    [[408], "RequestTimeoutError"],
    [[413], "ContextTooLongError"],
    [[429], "RateLimitError"],
    [[503, 529], "ModelOverloadedError"],
    [[500, 501, 502, 504, 520, 524, 599], "ServerError"],
    [[300, 307, 400, 405, 406, 409, 415, 418, 422, 431, 451, 499], "InvalidRequestError"],
    [[100, 103, 200, 299, 425], "UnknownLlmError"]
  ]
  for (const [members, tag] of statuses) {
    it(`${members.join(", ")} alone mean ${tag} [T35]`, () => {
      for (const status of members) assert.strictEqual(classify(status, "")._tag, tag)
    })
  }

  it("is total and deterministic on 100 to 599, and beyond [T35 L1103]", () => {
    for (const status of [...Array.from({ length: 500 }, (_, index) => index + 100), 0, -1, 600, 999]) {
      const tag = Classify.fromStatus(status)
      assert.strictEqual(Classify.fromStatus(status), tag)
      assert.isTrue(LlmError.isLlmError(classify(status, "")), String(status))
    }
  })

  it("a code or type of the body beats any status [T35 L1103]", () => {
    for (let status = 400; status < 600; status++) {
      assert.strictEqual(classify(status, { error: { code: "insufficient_quota" } })._tag, "QuotaExhaustedError")
      assert.strictEqual(classify(status, { error: { type: "overloaded_error" } })._tag, "ModelOverloadedError")
      assert.strictEqual(classify(status, { error: { code: "model_not_found" } })._tag, "ModelNotFoundError")
    }
  })
})

describe("code, type, text, status: in this order [T35]", () => {
  const text = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens"
  const rows: ReadonlyArray<readonly [string, number, unknown, Report.Tag]> = [
    ["a code beats the text", 400, { error: { code: "invalid_api_key", message: text } }, "AuthenticationError"],
    ["a type beats the text", 400, { error: { type: "rate_limit_error", message: text } }, "RateLimitError"],
    [
      "the code beats the type",
      400,
      { error: { code: "model_not_found", type: "rate_limit_error" } },
      "ModelNotFoundError"
    ],
    [
      "an unknown code leaves it to the type",
      400,
      { error: { code: "x", type: "authentication_error" } },
      "AuthenticationError"
    ],
    [
      "a vague type leaves it to the text",
      400,
      { error: { type: "invalid_request_error", message: text } },
      "ContextTooLongError"
    ],
    ["the text beats the status", 500, { error: { message: text } }, "ContextTooLongError"],
    [
      "an error that is a text counts",
      400,
      { error: "model 'x' not found, try pulling it first" },
      "ModelNotFoundError"
    ],
    ["an error at the top counts", 400, { message: "The engine is currently overloaded" }, "ModelOverloadedError"],
    ["a vague type beats the status", 503, { error: { type: "invalid_request_error" } }, "InvalidRequestError"],
    ["a vague type leaves 401 to the status", 401, { error: { type: "invalid_request_error" } }, "AuthenticationError"],
    ["a server error with 503 is an overload", 503, { error: { type: "server_error" } }, "ModelOverloadedError"],
    ["a status in the body beats that of the answer", 200, { error: { code: 529 } }, "ModelOverloadedError"],
    ["a code in capitals counts", 400, { error: { code: "CONTENT_FILTER" } }, "ContentFilteredError"],
    ["a plain text counts", 400, "prompt is too long: 20 tokens > 10 maximum", "ContextTooLongError"],
    ["a foreign page leaves it to the status", 502, "<html>rate limit, overloaded</html>", "ServerError"]
  ]
  for (const [what, status, body, tag] of rows) {
    it(`${what} [T35]`, () => assert.strictEqual(classify(status, body)._tag, tag))
  }
})

describe("what else an error reports [T8]", () => {
  it("keeps request id, status, hint and the provider's words [T8 L1104]", () => {
    const error = classify(
      429,
      { error: { code: "rate_limit_exceeded", message: "Slow. Please try again in 2s" } },
      { "x-request-id": "req-1", "retry-after": "1", "x-ratelimit-remaining-requests": "0" }
    )
    assert(error instanceof LlmError.RateLimitError)
    assert.strictEqual(error.service, "openai")
    assert.strictEqual(error.provider, "openai")
    assert.strictEqual(error.requestId, "req-1")
    assert.strictEqual(error.status, 429)
    assert.deepStrictEqual(error.retryAfter, Duration.seconds(2))
    assert.strictEqual(error.remainingQuota, 0)
    assert.strictEqual(error.detail, "Slow. Please try again in 2s")
    assert.include(error.message, "Slow")
    assert.strictEqual(classify(400, "{}", { "request-id": "req-2" }).requestId, "req-2")
  })

  const sizes: ReadonlyArray<readonly [string, number | undefined, number | undefined]> = [
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8192, 9001],
    ["This model's maximum context length is 10 tokens. However, you requested 25 tokens (20 in the messages", 10, 25],
    [
      "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens",
      200_000,
      2_500_021
    ],
    ["Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)", 262_144, 269_030],
    ["prompt is too long: 3333404 tokens > 200000 maximum", 200_000, 3_333_404],
    ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200_000, 210_000],
    ["The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).", 1_048_576, 1_250_074],
    ["This model's maximum prompt length is 131072 but the request contains 200000 tokens.", 131_072, 200_000],
    ["Request too large for gpt-4 on tokens per min (TPM): Limit 30000, Requested 40000.", 30_000, 40_000],
    ["Your input exceeds the context window of this model. Please adjust your input", undefined, undefined],
    ["prompt too long; exceeded max context length by 1119046 tokens", undefined, undefined],
    ["The total length of all messages is too long.", undefined, undefined]
  ]
  for (const [message, limit, actual] of sizes) {
    it(`reads the sizes of "${message.slice(0, 60)}" [T8]`, () => {
      const error = classify(400, { error: { message, type: "invalid_request_error" } })
      assert(error instanceof LlmError.ContextTooLongError)
      assert.strictEqual(error.limit, limit)
      assert.strictEqual(error.actual, actual)
    })
  }

  const capabilities: ReadonlyArray<readonly [object, string | undefined]> = [
    [{ message: "m does not support tools" }, "tools"],
    [{ message: "No endpoints found that support image input" }, "vision"],
    [{ code: "unsupported_parameter", param: "tool_choice", message: "not with this model" }, "tools"],
    [{ code: "unsupported_value", param: "stream", message: "not with this model" }, "streaming"],
    [{ code: "unsupported_value", param: "response_format", message: "no" }, "structuredOutput"],
    [{ code: "unsupported_parameter", param: "temperature", message: "'temperature' is unsupported" }, undefined],
    [{ message: '"llama3" does not support thinking' }, "thinking"],
    [{ message: "registry.ollama.ai/library/nomic-embed-text:latest does not support chat" }, "chat"],
    [{ message: '"llama3" does not support "tools"' }, undefined],
    [{ message: '"llama3" does not support insert' }, "other"],
    [{ message: "This chat model does not support tools" }, "tools"],
    [{ message: "This thinking model does not support images" }, "vision"],
    [{ message: "m does not support files" }, "files"],
    [{ message: "No endpoints found that support audio input" }, "other"],
    [{ message: "This model does not support effort level 'max'" }, undefined],
    [{ message: "thinking is not supported by this model" }, "thinking"],
    [{ code: "unsupported_parameter", param: "reasoning_effort", message: "no" }, "thinking"],
    [{ code: "unsupported_parameter", param: "reasoning.effort", message: "no" }, "thinking"],
    [{ code: "unsupported_value", param: "messages[0].role", message: "no" }, "other"],
    [
      {
        code: "unsupported_value",
        param: null,
        message: "Unsupported value: 'messages[0].role' does not support 'system' with this model."
      },
      "other"
    ],
    [
      { code: "unsupported_value", param: null, message: "Unsupported value: 'temperature' does not support 0.7" },
      undefined
    ]
  ]
  for (const [error, capability] of capabilities) {
    it(`names the missing capability, if it is one of ours: ${JSON.stringify(error)} [T8]`, () => {
      const found = classify(400, { error })
      if (capability === undefined) assert.strictEqual(found._tag, "InvalidRequestError")
      else {
        assert(found instanceof LlmError.CapabilityMismatchError)
        assert.strictEqual(found.capability, capability)
        assert.strictEqual(found.provider, "openai")
      }
    })
  }

  it("takes the wait of a spent quota as advice, not as a hint [T8]", () => {
    const silent = classify(429, { error: { code: "insufficient_quota" } })
    assert(silent instanceof LlmError.QuotaExhaustedError)
    assert.deepStrictEqual(silent.resetAfter, Duration.minutes(5))
    const saying = classify(429, { error: { code: "insufficient_quota" } }, { "retry-after": "3600" })
    assert(saying instanceof LlmError.QuotaExhaustedError)
    assert.deepStrictEqual(saying.resetAfter, Duration.hours(1))
    assert.isUndefined(saying.retryAfter)
  })

  it("names the tool of a call that the provider rejected [T8]", () => {
    const error = classify(400, {
      error: { code: "tool_use_failed", message: "bad call", failed_generation: '{"name": "search", "arguments": {' }
    })
    assert(error instanceof LlmError.MalformedToolCallError)
    assert.strictEqual(error.tool, "search")
  })

  it("reads what a router passes on from the provider behind it [T8]", () => {
    const raw = JSON.stringify({ error: { type: "overloaded_error", message: "Overloaded" } })
    const passed = (metadata: object) =>
      classify(502, { error: { code: 502, message: "Provider returned error", metadata } })
    assert.strictEqual(passed({ raw })._tag, "ModelOverloadedError")
    assert.strictEqual(passed({ raw: "it is temporarily rate-limited upstream" })._tag, "RateLimitError")
    assert.strictEqual(passed({ raw: 5 })._tag, "ServerError")
    assert.include(passed({ raw: '{"trace":"t-1"}' }).detail, '{"trace":"t-1"}')
    assert.strictEqual(passed({ raw }).detail, "Provider returned error: Overloaded")
    assert.strictEqual(passed({}).detail, "Provider returned error")
  })

  it("an unknown failure is UnknownLlmError, with the original words as its cause [T8]", () => {
    const error = classify(200, { error: { code: "wholly_new", message: "never seen" } })
    assert(error instanceof LlmError.UnknownLlmError)
    assert.deepInclude(error.cause as object, { name: "wholly_new", message: "never seen" })
    // an answer without any name, also where a router passes words on
    for (const more of [{}, { metadata: { raw: "too soon" } }]) {
      const nameless = classify(425, { error: { message: "Too early", ...more } })
      assert(nameless instanceof LlmError.UnknownLlmError)
      assert.deepInclude(nameless.cause as object, { name: "Error", message: nameless.detail })
    }
  })

  it("a server's own timeout is RequestTimeoutError, after the time that passed [T8]", () => {
    for (const error of [classify(408, ""), classify(504, { error: { type: "timeout_error" } })]) {
      assert(error instanceof LlmError.RequestTimeoutError)
      assert.deepStrictEqual(error.timeout, Duration.seconds(3))
    }
  })

  it("quotes at most a thousand characters [T8]", () => {
    const error = classify(500, { error: { message: "x".repeat(100_000) } })
    assert.isAtMost(error.message.length, 1200)
    assert.isAtMost(error.detail?.length ?? 0, 1001)
  })

  it("any status with any body is exactly one LlmError that its own schema can write and read [T8]", () => {
    const codecJson = Schema.toCodecJson(LlmError.LlmError)
    const word = fc.oneof(fc.string(), fc.constantFrom("rate_limit_exceeded", "unsupported_value", "tool_use_failed"))
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ error: fc.oneof(fc.jsonValue(), fc.record({ code: word, type: word, message: fc.string() })) })
        .map((value) => JSON.stringify(value))
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 700 }), body, (status, text) => {
        const error = classify(status, text)
        assert.isTrue(LlmError.isLlmError(error))
        const json = JSON.stringify(Schema.encodeSync(codecJson)(error))
        assert.strictEqual(Schema.decodeUnknownSync(codecJson)(JSON.parse(json))._tag, error._tag)
      })
    )
  })
})
