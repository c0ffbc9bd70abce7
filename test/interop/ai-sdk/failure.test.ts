/** What models of the AI SDK throw, as plain data, and that data as errors of this library. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Duration } from "effect"
import type { JsonObject } from "effect/Schema"
import { ended, failureOf, thrown } from "../../../packages/interop/src/ai-sdk/failure.ts"

const errorOf = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more })

describe("a failure with a status", () => {
  const answer = (status: number, body: string, headers: object = {}) => ({ type: "answer", status, headers, body })
  const composed = (error: object) => JSON.stringify({ error })

  it("is an answer, with its headers in lower case and its body [P1381]", () => {
    for (const statusCode of [400, 429, 599])
      assert.deepStrictEqual<unknown>(
        thrown(errorOf("x", "no", { statusCode, responseBody: "{}", responseHeaders: { "X-A": "1", b: 2 } })),
        answer(statusCode, "{}", { "x-a": "1" })
      )
    for (const responseHeaders of [undefined, null, "x", []])
      assert.deepStrictEqual<unknown>(
        thrown({ statusCode: 400, responseBody: "{}", responseHeaders }),
        answer(400, "{}")
      )
  })

  it("has a body of what the SDK has read, if there is no other [P1381]", () => {
    const data = { error: { code: "x" } }
    assert.deepStrictEqual<unknown>(
      thrown({ statusCode: 400, responseBody: "", data, message: "no" }),
      answer(400, JSON.stringify(data))
    )
    for (const odd of [undefined, null, "x", [1], 5n]) {
      const failure = { statusCode: 500, data: odd, message: "no", type: "t", code: "c" }
      assert.deepStrictEqual<unknown>(thrown(failure), answer(500, composed({ message: "no", type: "t", code: "c" })))
    }
    assert.deepStrictEqual<unknown>(
      thrown({ statusCode: 500, type: "", code: 5 }),
      answer(500, composed({ message: "" }))
    )
    const half = errorOf("x", "no", { statusCode: 500, code: "c" })
    assert.deepStrictEqual<unknown>(thrown(half), answer(500, composed({ message: "no", code: "c" })))
  })

  it("that is no failure of HTTP says nothing [P1381]", () => {
    for (const statusCode of [399, 600, 200, "500"])
      assert.deepStrictEqual<unknown>(thrown({ statusCode, name: "Odd" }), {
        type: "other",
        name: "Odd",
        message: "",
        data: { statusCode, name: "Odd" }
      })
  })
})

describe("a failure without a status", () => {
  it("is a lost connection, of the SDK or of fetch [P1381]", () => {
    const lost = [
      errorOf("AI_APICallError", "no"),
      errorOf("Error", "x", { code: "ECONNRESET" }),
      new Error("x", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }),
      new TypeError("fetch failed"),
      new TypeError("terminated"),
      new TypeError("Failed to fetch")
    ]
    for (const failure of lost) {
      const found = thrown(failure)
      assert(found.type === "connection")
      assert.strictEqual(found.cause, failure)
    }
    const others = [
      errorOf("AI_APICallError", "no", { statusCode: 200 }),
      errorOf("AI_RetryError", "no", { code: "ECONNRESET" }),
      new TypeError("x is not a function"),
      new Error("fetch failed")
    ]
    for (const failure of others)
      assert.deepStrictEqual<unknown>(thrown(failure), {
        type: "other",
        name: failure.name,
        message: failure.message,
        data: null
      })
  })

  it("is any other value, with its data if it is plain [P1381]", () => {
    const other = (name: string, message: string, data: unknown = null) => ({ type: "other", name, message, data })
    assert.deepStrictEqual<unknown>(thrown("oh"), other("Error", "oh"))
    assert.deepStrictEqual<unknown>(
      thrown({ name: "", message: 5, a: [1] }),
      other("Error", "", { name: "", message: 5, a: [1] })
    )
    assert.deepStrictEqual<unknown>(thrown({ message: "oh" }), other("Error", "oh", { message: "oh" }))
    assert.deepStrictEqual<unknown>(thrown({ a: undefined, b: [1] }), other("Error", "", { b: [1] }))
    const ring: Record<string, unknown> = {}
    ring["ring"] = ring
    for (const nothing of [undefined, null, 5, [1], { n: 5n }, ring])
      assert.deepStrictEqual<unknown>(thrown(nothing), other("Error", ""))
    const spiteful = {
      get name(): string {
        throw new Error("a getter")
      },
      message: "oh"
    }
    assert.deepStrictEqual<unknown>(thrown(spiteful), other("Error", "oh"))
  })
})

const source = { provider: "p", model: "m", secrets: [] }
const answer = { status: 200, headers: {}, body: "", at: 0, elapsed: Duration.zero }

describe("a finish reason that is a failure", () => {
  const usage = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  const of = (unified: string, raw?: string) => ended(source, answer, { unified, raw, usage })

  it("is its error, by the word of the provider before that of the SDK, and none if no word says so [P1381]", () => {
    for (const [unified, raw, tag, word] of [
      ["content-filter", undefined, "ContentFilteredError", "content-filter"],
      ["error", undefined, "ServerError", "error"],
      ["other", "refusal", "ContentFilteredError", "refusal"],
      ["error", "Refusal", "ContentFilteredError", "Refusal"],
      ["error", "SAFETY", "ServerError", "SAFETY"],
      ["other", "MALFORMED_FUNCTION_CALL", "MalformedToolCallError", "MALFORMED_FUNCTION_CALL"]
    ] as const) {
      const error = of(unified, raw)
      assert.deepInclude(error, { _tag: tag, model: "m", provider: "p", usage })
      assert.include(error?.message, `the reply ended with '${word}'`)
    }
    for (const [unified, raw] of [["stop"], ["length", "max_tokens"], ["other", "toString"], ["constructor"]] as const)
      assert.isUndefined(of(unified, raw))
    const silent = ended(source, answer, { unified: "error", raw: undefined, usage: undefined })
    assert.strictEqual(silent?._tag, "ServerError")
    assert.isUndefined(silent?.usage)
  })
})

describe("the data of a failure", () => {
  const classified: Array<object> = []
  const marker = LlmError.ServerError.make({ model: "classified" })
  const of = (failure: JsonObject) => {
    classified.length = 0
    const error = failureOf(source, { ...answer, headers: { a: "1" } }, failure, (given) => {
      classified.push(given)
      return marker
    })
    return { error, classified: [...classified] }
  }

  it("is read as the answer that it has, or as a body in the form of a provider [P1381]", () => {
    const failed = { status: 429, body: "slow", headers: { b: "2", c: 3 } }
    assert.deepStrictEqual(of(failed), {
      error: marker,
      classified: [{ ...answer, status: 429, headers: { b: "2" }, body: "slow" }]
    })
    assert.deepStrictEqual(of({ status: 429, body: "slow" }).classified, [{ ...answer, status: 429, body: "slow" }])
    const data = { error: { type: "overloaded_error" } }
    for (const failure of [{ data }, { data, status: 429 }, { data, body: "x" }, { data, status: 429, body: "" }])
      assert.deepStrictEqual(of(failure), {
        error: marker,
        classified: [{ ...answer, headers: { a: "1" }, body: JSON.stringify(data) }]
      })
  })

  it("is the error of its name, else a reply that cannot be read [P1381]", () => {
    const names = {
      AI_LoadAPIKeyError: "AuthenticationError",
      AI_NoSuchModelError: "ModelNotFoundError",
      AI_InvalidPromptError: "InvalidRequestError",
      AI_InvalidArgumentError: "InvalidRequestError",
      AI_LoadSettingError: "InvalidRequestError",
      AI_NoSuchProviderReferenceError: "InvalidRequestError",
      AI_UnsupportedFunctionalityError: "CapabilityMismatchError",
      AI_TypeValidationError: "UnknownLlmError",
      AI_toString: "UnknownLlmError",
      Error: "UnknownLlmError"
    }
    for (const [name, tag] of Object.entries(names)) {
      const { classified, error } = of({ name, message: "oh no", data: null })
      assert.deepStrictEqual(classified, [])
      assert.deepInclude(Object(error), { _tag: tag, model: "m", provider: "p" })
      assert.include(error.message, "oh no")
    }
    const unreadable = of({ name: "AI_TypeValidationError", message: "oh no" }).error
    assert.include(unreadable.message, "The reply of model 'm' could not be read (p, status 200): oh no. Send it again")
    assert.deepInclude(Object(unreadable.cause), { name: "AI_TypeValidationError", message: "oh no" })
    // it quotes no body, as the SDK tells none
    assert.notProperty(unreadable, "detail")
    const unsupported = of({ name: "AI_UnsupportedFunctionalityError", message: "audio" }).error
    assert.deepInclude(Object(unsupported), { capability: "other", detail: "audio" })
    assert.notInclude(of({ name: "RangeError", message: "oh no" }).error.message, "could not be read")
    assert.strictEqual(of({}).error._tag, "UnknownLlmError")
  })
})
