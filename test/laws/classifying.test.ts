/** Laws of errors as data: what every class advises, and what becomes of what a provider says. */
import { assert } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Effect, Schema } from "effect"
import fc from "fast-check"
import * as Arbitrary from "effect/Arbitrary"
import { answer, type Api, apis, formats } from "../_support/wireFixtures.ts"
import { lawOf } from "../_support/errors.ts"
import { law } from "../_support/laws.ts"

/** Of every class; an error that borrows its advice from a foreign failure has none of its own. */
const own = Arbitrary.filter(Arbitraries.error, (error) => !("lent" in error && error.lent !== undefined))

lawOf(
  "a delay and more than one attempt are advised exactly where retrying makes sense, for any data [L213 T3]",
  own,
  (error) => {
    assert.strictEqual(error.maxAttempts > 1, error.isRetryable, error._tag)
    assert.strictEqual(Duration.toMillis(error.suggestedDelay) > 0, error.isRetryable, error._tag)
    assert.isTrue(Number.isSafeInteger(error.maxAttempts) && error.maxAttempts >= 1)
  }
)

lawOf(
  "the code and the status of an error are those of its class alone, and no other class has that code [L1102 T2]",
  own,
  (error) => {
    const words = error._tag.replace(/Error$/, "").replace(/([a-z])([A-Z])/g, "$1-$2")
    assert.strictEqual(error.code, `KINTSUGI-${words.toUpperCase()}`)
    assert.strictEqual(error.httpStatus, RecoveryAdvice.describe(error._tag).httpStatus)
    const others = RecoveryAdvice.tags.filter((tag) => tag !== error._tag)
    for (const tag of others) assert.notStrictEqual(RecoveryAdvice.describe(tag).code, error.code)
  }
)

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const codec = Schema.toCodecJson(LlmError.LlmError)

const encode = (error: LlmError.LlmError): string => JSON.stringify(Schema.encodeSync(codec)(error))

/** How each provider writes an error with these words, and with a code that says what it is. */
const bodies: Readonly<Record<Api, (message: string, code?: string) => unknown>> = {
  anthropic: (message, code = "some_error") => ({ type: "error", error: { type: code, message } }),
  "openai-chat": (message, code) => ({ error: { message, type: null, param: null, code: code ?? null } }),
  "openai-responses": (message, code = "some_error") => ({ error: { message, type: code } }),
  gemini: (message, code = "SOME") => ({ error: { message, status: code, details: [] } }),
  ollama: (error) => ({ error })
}

/** Codes that leave no doubt, for those that have codes at all. */
const codes: Readonly<Record<Api, Readonly<Record<string, LlmError.LlmError["_tag"]>>>> = {
  anthropic: {
    authentication_error: "AuthenticationError",
    not_found_error: "ModelNotFoundError",
    overloaded_error: "ModelOverloadedError",
    rate_limit_error: "RateLimitError"
  },
  "openai-chat": {
    insufficient_quota: "QuotaExhaustedError",
    invalid_api_key: "AuthenticationError",
    model_not_found: "ModelNotFoundError",
    context_length_exceeded: "ContextTooLongError",
    rate_limit_exceeded: "RateLimitError"
  },
  "openai-responses": { overloaded_error: "ModelOverloadedError" },
  gemini: { UNAVAILABLE: "ModelOverloadedError" },
  ollama: {}
}

const api = fc.constantFrom(...apis)

const plainWords = fc
  .array(fc.constantFrom("lorem", "ipsum", "dolor", "sit", "amet", "17", "42"), { minLength: 1, maxLength: 8 })
  .map((words) => words.join(" "))

law(
  "any status from 100 to 599 with any body is one error, and always the same one [L1103 T35]",
  fc.record({
    api,
    status: fc.integer({ min: 100, max: 599 }),
    body: fc.oneof(fc.string({ unit: "binary" }), fc.json(), plainWords)
  }),
  ({ api, body, status }) =>
    Effect.sync(() => {
      const classify = () => formats[api].classify(source, answer(status, body))
      const error = classify()
      assert.isTrue(LlmError.isLlmError(error))
      assert.strictEqual(encode(classify()), encode(error))
      assert.strictEqual(encode(Schema.decodeUnknownSync(codec)(JSON.parse(encode(error)))), encode(error))
    })
)

law(
  "a code in the body beats the status, with any words [L1103 T35]",
  fc.record({
    coded: fc.constantFrom(
      ...apis.flatMap((api) => Object.entries(codes[api]).map(([code, tag]) => ({ api, code, tag })))
    ),
    status: fc.integer({ min: 400, max: 599 }),
    words: plainWords
  }),
  ({ coded: { api, code, tag }, status, words }) =>
    Effect.sync(() => {
      const error = formats[api].classify(source, answer(status, bodies[api](words, code)))
      assert.strictEqual(error._tag, tag)
    })
)

law(
  "an error keeps request id, status, hint and the provider's words [L1104 T8]",
  fc.record({
    api,
    id: fc.stringMatching(/^[a-f0-9-]{1,36}$/),
    header: fc.constantFrom("request-id", "x-request-id"),
    status: fc.integer({ min: 400, max: 599 }),
    wait: fc.integer({ min: 0, max: 9999 }),
    words: plainWords
  }),
  ({ api, header, id, status, wait, words }) =>
    Effect.sync(() => {
      const headers = { [header]: id, "retry-after": String(wait) }
      const error = formats[api].classify(source, answer(status, bodies[api](words), headers))
      assert.deepInclude(error, { requestId: id, status, detail: words, provider: "p" })
      const hint = error instanceof LlmError.QuotaExhaustedError ? error.resetAfter : error.retryAfter
      assert.deepStrictEqual(hint, Duration.seconds(wait))
    })
)
