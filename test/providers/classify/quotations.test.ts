import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Answer from "../../../packages/providers/src/transport/Answer.ts"
import * as Hints from "../../../packages/providers/src/transport/Hints.ts"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Duration } from "effect"

const codec = OpenAiChat.make({ provider: "openai", model: "gpt-x", secrets: [] })

const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer.Answer => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
  at: 0,
  elapsed: Duration.zero
})

const classify = (status: number, body: unknown, headers?: Readonly<Record<string, string>>): LlmError.LlmError =>
  codec.classify(answer(status, body, headers))

const hintOf = (error: LlmError.LlmError): number | undefined =>
  error.retryAfter === undefined ? undefined : Duration.toMillis(error.retryAfter)

describe("a quotation in a message does not classify it", () => {
  const rows: ReadonlyArray<readonly [number, object, LlmError.LlmError["_tag"]]> = [
    [
      400,
      {
        type: "invalid_request_error",
        code: "invalid_value",
        message: "Invalid 'messages[3].content': 'rate limited, retry in 20 minutes'"
      },
      "InvalidRequestError"
    ],
    [
      400,
      { type: "invalid_request_error", message: 'Bad: "our servers get too many requests"' },
      "InvalidRequestError"
    ],
    [
      400,
      { type: "invalid_request_error", message: "the model's tool_call_id 'file not found' has no result" },
      "InvalidRequestError"
    ],
    [500, { type: "server_error", message: "Internal error: rate limiter backend unavailable" }, "ServerError"],
    [
      500,
      { message: 'error parsing tool call: raw=\'{"text":"try again in 999s"}\', err=unexpected end' },
      "MalformedToolCallError"
    ]
  ]
  for (const [status, error, tag] of rows) {
    it(`reads ${JSON.stringify(error)} as ${tag}, without a wait [T8 T35 P801]`, () => {
      const read = classify(status, { error })
      assert.strictEqual(read._tag, tag)
      assert.isUndefined(hintOf(read))
    })
  }
})

describe("waits in words [P801]", () => {
  const rows: ReadonlyArray<readonly [string, number | undefined]> = [
    ["try again in 1 minute and 30 seconds", 90_000],
    ["try again in 1 hour, 2 minutes", 3_720_000],
    ["Please retry in 2 hrs", 7_200_000],
    ["Retry after: 30s", 30_000],
    ["try again in about 20 seconds", 20_000],
    ["wait 30 seconds before trying again", 30_000],
    ["Retry after 60", 60_000],
    ["try again in 500µs", undefined],
    ["retry in a while", undefined],
    ["waiting 30 seconds is not enough", undefined],
    ["retry after 2030-01-01", undefined]
  ]
  for (const [text, millis] of rows) {
    it(`${text}: ${millis ?? "nothing"} [P801]`, () => {
      const hint = Hints.of(answer(429, ""), text)
      assert.strictEqual(hint === undefined ? undefined : Duration.toMillis(hint), millis)
    })
  }
})

it("headers that a router passes on count for the error in a success, those of the success do not [P801 P803]", () => {
  const body = {
    error: { code: 429, message: "slow", metadata: { headers: { "Retry-After": "30" } } }
  }
  const source = { provider: "openai", model: "gpt-x", secrets: [] }
  const error = OpenAiChat.inside(source, answer(200, body, { "retry-after": "99" }), body)
  assert(error !== undefined)
  assert.strictEqual(error._tag, "RateLimitError")
  assert.strictEqual(hintOf(error), 30_000)
})

it("reads the limits of the IETF's draft, other spellings, and a header that came twice [P801]", () => {
  assert.strictEqual(hintOf(classify(429, "", { ratelimit: '"default";r=0;t=50' })), 50_000)
  assert.isUndefined(hintOf(classify(429, "", { ratelimit: '"default";r=7;t=50' })))
  assert.strictEqual(hintOf(classify(429, "", { "x-rate-limit-reset": "20" })), 20_000)
  assert.strictEqual(hintOf(classify(429, "", { "retry-after": "30, 30" })), 30_000)
})

it("what the server forbids stays forbidden above the transport [P802]", () => {
  const forbidden = classify(503, "", { "x-should-retry": "false" })
  assert.deepInclude(forbidden, { _tag: "ModelOverloadedError", isRetryable: false, shouldRetry: false })
  assert.isTrue(classify(503, "", { "x-should-retry": "true" }).isRetryable)
})

describe("missing capabilities [T20]", () => {
  const rows: ReadonlyArray<readonly [object, string]> = [
    [{ code: "unsupported_parameter", param: "parallel_tool_calls" }, "InvalidRequestError"],
    [{ code: "unsupported_parameter", param: "stream_options" }, "InvalidRequestError"],
    [{ code: "unsupported_parameter", param: "tools" }, "tools"],
    [{ code: "unsupported_parameter", param: "stream" }, "streaming"],
    [{ message: "functionary-7b does not support image input" }, "vision"],
    [{ message: "llama3-groq-8b-8192-tool-use-preview does not support image input" }, "vision"],
    [{ message: "this model does not support tools" }, "tools"]
  ]
  for (const [error, expected] of rows) {
    it(`${JSON.stringify(error)}: ${expected} [T8 T20]`, () => {
      const read = classify(400, { error: { message: "unsupported", ...error } })
      assert.strictEqual("capability" in read ? read.capability : read._tag, expected)
    })
  }
})

it("reads bodies with a byte order mark, quotas beside limits, names in the place of sentences, and lists [T8]", () => {
  assert.strictEqual(
    classify(429, `\uFEFF${JSON.stringify({ error: { code: "insufficient_quota" } })}`)._tag,
    "QuotaExhaustedError"
  )
  const both = { code: "rate_limit_exceeded", type: "insufficient_quota" }
  assert.strictEqual(classify(429, { error: both })._tag, "QuotaExhaustedError")
  assert.strictEqual(classify(429, { error: "insufficient_quota" })._tag, "QuotaExhaustedError")
  assert.strictEqual(classify(422, { detail: [{ loc: ["body"], msg: "field required" }] }).detail, "field required")
})

it("reads numbers with commas between their thousands [T10]", () => {
  const message = "This model's maximum context length is 128,000 tokens, however you requested 150,000 tokens"
  assert.deepInclude(classify(400, { error: { message } }), {
    _tag: "ContextTooLongError",
    limit: 128_000,
    actual: 150_000
  })
})

it("a request id that looks like a key is redacted [P202]", () => {
  const error = classify(500, "", { "x-request-id": "sk-abcdefghijklmnop0123" })
  assert.notInclude(JSON.stringify(error) + error.message, "abcdefghijklmnop")
})
