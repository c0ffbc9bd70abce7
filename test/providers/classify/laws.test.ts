/** Laws of classification on any answer of a server. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Predicate, Schema } from "effect"
import * as fc from "fast-check"
import { anyText, nearMiss } from "../../_support/codec.ts"
import {
  answer,
  type Api,
  apis,
  errorOf,
  type Fixture,
  fixtures,
  formats,
  pieces
} from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const codec = Schema.toCodecJson(LlmError.LlmError)

const encode = (error: LlmError.LlmError): string => JSON.stringify(Schema.encodeSync(codec)(error))

/** One error, which its own schema writes and reads without a loss. */
const checkError = (error: LlmError.LlmError) => {
  assert.isTrue(LlmError.isLlmError(error))
  const text = encode(error)
  assert.strictEqual(encode(Schema.decodeUnknownSync(codec)(JSON.parse(text))), text)
}

const names = [
  "error",
  "code",
  "type",
  "status",
  "message",
  "detail",
  "details",
  "param",
  "metadata",
  "raw",
  "headers",
  "reasons",
  "limit_source",
  "innererror",
  "failed_generation",
  "request_id",
  "reason",
  "retryDelay",
  "violations",
  "quotaId",
  "response",
  "incomplete_details",
  "output",
  "content",
  "refusal",
  "choices",
  "delta",
  "finish_reason",
  "stop_reason",
  "candidates",
  "finishReason",
  "finishMessage",
  "promptFeedback",
  "blockReason",
  "parts",
  "functionCall",
  "name",
  "__proto__"
]

const words = [
  "rate_limit_exceeded",
  "unsupported_value",
  "tool_use_failed",
  "insufficient_quota",
  "invalid_request_error",
  "error",
  "server_error",
  "RESOURCE_EXHAUSTED",
  "API_KEY_INVALID",
  "SAFETY",
  "MALFORMED_FUNCTION_CALL",
  "refusal",
  "failed",
  "response.failed",
  "content_filter",
  "constructor",
  "toString",
  "34.4s",
  "-1s",
  "999999999999.9s",
  "429",
  "99999",
  "prompt is too long: 9 tokens > 8 maximum",
  `maximum prompt length is ${"9".repeat(400)} but the request contains 1`,
  "does not support tools",
  "limit: 0",
  "Please try again in 1h2m",
  `retry in ${"9".repeat(400)}s`,
  '{"error":{"code":5}}'
]

/** Bodies that are almost those of an error: known names where they do not belong, and values of any type. */
const near = nearMiss(names, [400, 429, 503, 599, ...words])

const anyJson = fc.oneof(
  near,
  near.map((error) => ({ error })),
  near.map((error) => ({ choices: [error], candidates: [error], delta: error, response: error, type: "error" })),
  // jsonValue gives JSON
  fc.jsonValue().map((value) => value as Schema.Json)
)

const texts = anyText(anyJson)

const anyStatus = fc.integer({ min: 100, max: 599 })

const anyHeaders = fc.dictionary(
  fc.constantFrom(
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "request-id"
  ),
  fc.oneof(fc.string(), fc.constantFrom("0", "5", "-1", "1e9", "6m0s", "2027-01-01T12:00:30Z", "9".repeat(400)))
)

describe("anything", () => {
  for (const api of apis) {
    it(`any answer is one error that can be written and read, and always the same one: ${api} [T8 L1103]`, () => {
      fc.assert(
        fc.property(anyStatus, texts, anyHeaders, (status, body, headers) => {
          const classify = () => formats[api].classify(source, answer(status, body, headers))
          checkError(classify())
          assert.strictEqual(encode(classify()), encode(classify()))
        })
      )
    })

    it(`any body or event of a success holds one error, or none: ${api} [T8 L1103]`, () => {
      fc.assert(
        fc.property(anyJson, (json) => {
          const inside = () => formats[api].inside(source, answer(200, ""), json)
          const error = inside()
          if (error === undefined) assert.isUndefined(inside())
          else {
            checkError(error)
            assert.strictEqual(encode(error), encode(inside() ?? error))
          }
        })
      )
    })
  }
})

/** Codes that mean one tag, with any message beside them. */
const telling = new Set([
  "authentication_error",
  "not_found_error",
  "overloaded_error",
  "rate_limit_error",
  "invalid_api_key",
  "model_not_found",
  "context_length_exceeded",
  "rate_limit_exceeded",
  "insufficient_quota",
  "engine_overloaded_error",
  "exceeded_current_quota_error",
  "content_filter",
  "too_many_prompt_tokens",
  "invalid_model",
  "service_unavailable_error",
  "API_KEY_INVALID",
  "NOT_FOUND",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
  "PROHIBITED_CONTENT",
  "MALFORMED_FUNCTION_CALL",
  "refusal"
])

const tells = (json: unknown): boolean => {
  if (Predicate.isString(json)) return telling.has(json)
  return Predicate.isObjectOrArray(json) && Object.values(json).some(tells)
}

/** The same JSON for a machine: keys in another order, other ids, other words for people. */
const disguised = (json: unknown, words: string, rank: (key: string) => number): unknown => {
  if (Array.isArray(json)) return json.map((item) => disguised(item, words, rank))
  if (!Predicate.isObject(json)) return json
  const keys = Object.keys(json).toSorted((one, other) => rank(one) - rank(other))
  return Object.fromEntries(
    keys.map((key) => {
      const wording = /^(?:message|explanation|finishMessage|(?:request_|user_|response_)?id)$/.test(key)
      return [key, wording && Predicate.isString(json[key]) ? words : disguised(json[key], words, rank)]
    })
  )
}

const plainWords = fc
  .array(fc.constantFrom("lorem", "ipsum", "dolor", "sit", "amet", "17", "42"), { minLength: 1, maxLength: 8 })
  .map((words) => words.join(" "))

const statuses = fc.integer({ min: 400, max: 599 })

const isError = (fixture: Fixture): boolean => {
  if (errorOf(fixture) === undefined) return false
  return pieces(fixture).some((piece) => piece.startsWith("{") && tells(JSON.parse(piece)))
}

describe("a code decides [T35]", () => {
  const coded = fixtures.filter(isError)

  it("most recorded failures have one [T35]", () => assert.isAtLeast(coded.length, 20))

  for (const fixture of coded) {
    it(`${fixture.id} is what it is in other words, in another order and with another status [T35]`, () => {
      const isRefused = fixture.status >= 400
      const tag = errorOf(fixture)?._tag
      fc.assert(
        fc.property(plainWords, fc.infiniteStream(fc.integer()), statuses, (words, ranks, other) => {
          const seen = new Map<string, number>()
          const rank = (key: string) => {
            const position = seen.get(key) ?? ranks.next().value
            seen.set(key, position)
            return position
          }
          const edit = (piece: string) =>
            piece.startsWith("{") ? JSON.stringify(disguised(JSON.parse(piece), words, rank)) : piece
          const edited = pieces(fixture).map(edit)
          const body = fixture.streaming ? edited.map((piece) => `data: ${piece}\n\n`).join("") : edited.join("")
          const status = isRefused ? other : fixture.status
          assert.strictEqual(errorOf({ ...fixture, body, status })?._tag, tag)
        }),
        { numRuns: 30 }
      )
    })
  }
})

describe("what an error keeps [L1104]", () => {
  const bodies: Readonly<Record<Api, (text: string) => unknown>> = {
    anthropic: (message) => ({ type: "error", error: { type: "some_error", message } }),
    "openai-chat": (message) => ({ error: { message, type: null, param: null, code: null } }),
    "openai-responses": (message) => ({ error: { message, type: "some_error" } }),
    gemini: (message) => ({ error: { message, status: "SOME", details: [] } }),
    ollama: (error) => ({ error })
  }
  for (const api of apis) {
    it(`keeps request id, status, hint and words: ${api} [L1104]`, () => {
      const id = fc.stringMatching(/^[a-f0-9-]{1,36}$/)
      fc.assert(
        fc.property(
          id,
          fc.integer({ min: 400, max: 599 }),
          fc.integer({ min: 0, max: 9999 }),
          plainWords,
          (id, status, wait, words) => {
            const headers = { "request-id": id, "retry-after": String(wait) }
            const error = formats[api].classify(source, answer(status, bodies[api](words), headers))
            assert.strictEqual(error.requestId, id)
            assert.strictEqual(error.status, status)
            assert.strictEqual(error.detail, words)
            assert.strictEqual(error.provider, "p")
            const hint = error instanceof LlmError.QuotaExhaustedError ? error.resetAfter : error.retryAfter
            assert.deepStrictEqual(hint, Duration.seconds(wait))
          }
        )
      )
    })
  }
})

describe("long texts", () => {
  const size = 100_000
  const seeds = [
    "a",
    "9",
    " ",
    "model ",
    "models not ",
    "1s",
    "retry in ",
    "try again in 1 ",
    "retry in 1s ",
    '"name":"',
    '"name" ',
    "response_format ",
    "limit: 1, ",
    "requested ",
    "request too large ",
    "maximum context length is 1 tokens ",
    "input length and ",
    "contains 1 tokens ",
    "invalid ",
    "[",
    "{",
    '{"error":',
    "<",
    "\n"
  ]
  const texts = [
    ...seeds.map((seed) => seed.repeat(size / seed.length)),
    `please retry in ${"9".repeat(size)}`,
    `please retry in 1${" ".repeat(size)}x`,
    `please retry in ${"1s".repeat(size / 2)}!`,
    `maximum context length is ${"9".repeat(size)} tokens`
  ]
  for (const api of apis) {
    it(`reads texts of a hundred thousand characters in no time: ${api} [T8]`, () => {
      // where it is not, the test's limit of time ends it
      for (const text of texts) {
        for (const body of [text, { error: { message: text, failed_generation: text } }, { error: text }]) {
          checkError(formats[api].classify(source, answer(400, body, { "retry-after": text })))
        }
      }
    })
  }
})
