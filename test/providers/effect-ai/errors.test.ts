/** Errors on their way through `effect/ai`: what may be sent again stays so, and so does the wait. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError, Usage } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Arbitrary, DateTime, Duration, Schema } from "effect"
import { AiError } from "effect/ai"
import * as fc from "fast-check"

const now = 1_767_607_201_000
const failed = { model: "m", provider: "p", now }

const tags = RecoveryAdvice.tags.filter((tag) => tag in LlmError)

const llmErrors = fc
  .constantFrom(...tags)
  .chain((tag) => fromEffect(Arbitraries.errorOf(tag)))
  // a tag of this union has an error of this union
  .map((error) => error as LlmError.LlmError)

const reasons: fc.Arbitrary<AiError.AiErrorReason> = fc
  .constantFrom(...AiError.AiErrorReason.members)
  .chain((member) => fromEffect(Arbitrary.schema(member)))
  // a member of the union makes reasons
  .map((reason) => reason as AiError.AiErrorReason)

const aiErrors = reasons.map((reason) => AiError.make({ module: "OpenAi", method: "createResponse", reason }))

const aiCodec = Schema.toCodecJson(AiError.AiError)

/** Through JSON and back. */
const overTheWire = (error: AiError.AiError): AiError.AiError =>
  Schema.decodeUnknownSync(aiCodec)(JSON.parse(JSON.stringify(Schema.encodeSync(aiCodec)(error))))

const sameWait = (one: Duration.Duration | undefined, other: Duration.Duration | undefined): void =>
  assert.deepStrictEqual(one && Duration.toMillis(one), other && Duration.toMillis(other))

describe("errors of effect/ai", () => {
  it("every reason becomes one of our errors, as retryable and with the same wait, and the original beneath [P1107]", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(aiErrors, (error) => {
        seen.add(error.reason._tag)
        const made = EffectAi.fromAiError(error, failed)
        assert.isTrue(LlmError.isLlmError(made), made._tag)
        assert.strictEqual(made.isRetryable, error.isRetryable)
        assert.strictEqual(made.cause, error)
        if (error.retryAfter !== undefined) sameWait(made.retryAfter, error.retryAfter)
        assert.strictEqual(EffectAi.toAiError(made, { now }), error)
      })
    )
    assert.strictEqual(seen.size, AiError.AiErrorReason.members.length)
  })

  it("every error of ours becomes an AiError, as retryable and with the same wait, and comes back as itself [P1107]", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(llmErrors, (error) => {
        seen.add(error._tag)
        const made = EffectAi.toAiError(error, { module: "M", method: "m", now })
        assert.strictEqual(made.isRetryable, error.isRetryable)
        sameWait(made.retryAfter, error.retryAfter)
        assert.strictEqual(made.reason.cause, error)
        assert.strictEqual(EffectAi.fromAiError(made, failed), error)
      })
    )
    assert.strictEqual(seen.size, tags.length)
  })

  it("behind a wire our error keeps its class and its fields, if its reason has metadata [P1107]", () => {
    const codec = Schema.toCodecJson(LlmError.LlmError)
    const textOf = (error: LlmError.LlmError) => JSON.stringify(Schema.encodeSync(codec)(error))
    fc.assert(
      fc.property(llmErrors, (error) => {
        const received = overTheWire(EffectAi.toAiError(error, { now }))
        assert.strictEqual(received.isRetryable, error.isRetryable)
        const back = EffectAi.fromAiError(received, failed)
        assert.strictEqual(back.isRetryable, error.isRetryable)
        if (!("metadata" in received.reason)) return assert.strictEqual(back._tag, "NetworkError")
        assert.strictEqual(textOf(back), textOf(error))
      })
    )
  })
})

const made = (reason: AiError.AiErrorReason): LlmError.LlmError =>
  EffectAi.fromAiError(AiError.make({ module: "M", method: "m", reason }), failed)

const reasonOf = (error: LlmError.LlmError) => EffectAi.toAiError(error, { now }).reason

const http = (status: number, body?: string, headers: Readonly<Record<string, string>> = {}) => ({
  http: { response: { status, headers }, ...(body === undefined ? {} : { body }) }
})

describe("the nearest error", () => {
  const cases: ReadonlyArray<readonly [string, AiError.AiErrorReason, LlmError.LlmError["_tag"]]> = [
    ["a rate limit", new AiError.RateLimitError({ retryAfter: Duration.seconds(7) }), "RateLimitError"],
    ["a refused key", new AiError.AuthenticationError({ kind: "InvalidKey" }), "AuthenticationError"],
    ["a filter", new AiError.ContentPolicyError({ description: "no" }), "ContentFilteredError"],
    [
      "a request that is too long",
      new AiError.InvalidRequestError({ description: "prompt is too long: 9 tokens > 8 maximum" }),
      "ContextTooLongError"
    ],
    [
      "an overload by its status",
      new AiError.InternalProviderError({ description: "Server error", ...http(529) }),
      "ModelOverloadedError"
    ],
    [
      "an overload by its words",
      new AiError.InternalProviderError({ description: "Overloaded" }),
      "ModelOverloadedError"
    ],
    [
      "a fault of the server",
      new AiError.InternalProviderError({ description: "Server error", ...http(500) }),
      "ServerError"
    ],
    [
      "a fault that may pass, in the words of one that does not",
      new AiError.InternalProviderError({ description: "prompt is too long: 9 tokens > 8 maximum" }),
      "ServerError"
    ],
    ["a missing model", new AiError.UnknownError(http(404, '{"error":{"message":"nope"}}')), "ModelNotFoundError"],
    ["an unknown failure", new AiError.UnknownError({}), "UnknownLlmError"],
    ["an unreadable answer", new AiError.InvalidResponseError({ description: "no JSON" }), "UnknownLlmError"],
    [
      "a schema that is not supported",
      new AiError.UnsupportedSchemaError({ description: "x" }),
      "CapabilityMismatchError"
    ],
    [
      "a lost connection",
      new AiError.NetworkError({
        reason: "TransportError",
        method: "POST",
        url: "https://a.test:1/x?key=abcdefgh1234"
      }),
      "NetworkError"
    ],
    [
      "a URL that is none",
      new AiError.NetworkError({ reason: "InvalidUrlError", method: "POST", url: "x" }),
      "InvalidRequestError"
    ]
  ]
  it.each(cases)("%s [P1107]", (_, reason, tag) => {
    const { _tag, message } = made(reason)
    assert.strictEqual(_tag, tag)
    assert.notInclude(message, "status 0")
    assert.notInclude(message, "abcdefgh1234")
  })

  it("a wait in the headers of the answer counts, also on the way back [P801 P1107]", () => {
    const ofHeaders = new AiError.InternalProviderError({
      description: "busy",
      ...http(503, "", { "Retry-After": "9" })
    })
    const error = made(ofHeaders)
    sameWait(error.retryAfter, Duration.seconds(9))
    sameWait(EffectAi.toAiError(error, { now }).retryAfter, Duration.seconds(9))
  })

  it("when a quota starts afresh is an instant there and a wait here [P1107]", () => {
    const at = DateTime.makeUnsafe(now + 60_000)
    const error = made(new AiError.QuotaExhaustedError({ resetAt: at }))
    assert.instanceOf(error, LlmError.QuotaExhaustedError)
    assert.deepInclude(error, { resetAfter: Duration.minutes(1) })
    const reason = reasonOf(LlmError.QuotaExhaustedError.make({ model: "m", resetAfter: Duration.minutes(1) }))
    assert.deepInclude(reason, { resetAt: at })
  })

  it("if the server forbids a resend, the reason forbids it too [P802 P1107]", () => {
    const reason = reasonOf(LlmError.ServerError.make({ model: "m", shouldRetry: false, status: 500 }))
    assert.strictEqual(reason._tag, "UnknownError")
    assert.isFalse(reason.isRetryable)
    assert.deepInclude(reason, { http: { response: { status: 500, headers: {} } } })
  })
})

describe("the facts of an answer", () => {
  /** What an error says of the provider's answer; a fact that it does not have is absent. */
  const factsOf = (error: LlmError.LlmError) => {
    const { cause: _cause, detail, provider, requestId, status, usage } = error
    const facts = { tag: error._tag, detail, provider, requestId, status, usage }
    return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined))
  }
  const facts = (reason: AiError.AiErrorReason) => factsOf(made(reason))
  const p = { provider: "p" }

  it("are its status, the id of the request and the words of the provider [P1107]", () => {
    const server = { tag: "ServerError", ...p }
    const busy = (headers: Readonly<Record<string, string>>) =>
      facts(new AiError.InternalProviderError({ description: "it broke", ...http(500, "", headers) }))
    assert.deepStrictEqual(busy({}), { ...server, detail: "it broke", status: 500 })
    for (const name of ["x-request-id", "Request-Id"]) {
      assert.deepStrictEqual(busy({ [name]: "r1" }), { ...server, detail: "it broke", status: 500, requestId: "r1" })
    }
    assert.deepStrictEqual(busy({ "x-request-id": "r1", "request-id": "r2" })["requestId"], "r1")
    assert.deepStrictEqual(facts(new AiError.InternalProviderError({ description: "it broke" })), {
      ...server,
      detail: "it broke"
    })
    const network = { reason: "TransportError", method: "POST", url: "https://a.test" } as const
    assert.deepStrictEqual(facts(new AiError.NetworkError({ ...network, description: "refused" })), {
      tag: "NetworkError",
      ...p,
      detail: "refused"
    })
    const unknownTool = new AiError.ToolNotFoundError({ toolName: "t", availableTools: [] })
    assert.deepStrictEqual(facts(unknownTool), { tag: "UnknownLlmError", ...p, detail: unknownTool.message })
    assert.isFalse("detail" in made(new AiError.InternalProviderError({ description: "" })))
  })

  it("are the kind of a refused key where the provider says nothing [P1107]", () => {
    const refused = { tag: "AuthenticationError", ...p }
    assert.deepStrictEqual(facts(new AiError.AuthenticationError({ kind: "ExpiredKey", ...http(401) })), {
      ...refused,
      detail: "ExpiredKey",
      status: 401
    })
    assert.deepStrictEqual(facts(new AiError.AuthenticationError({ kind: "ExpiredKey", description: "renew it" })), {
      ...refused,
      detail: "renew it"
    })
  })

  it("are the tokens and the text of a reply that could not be read [P1107]", () => {
    const unread = (responseText: string, usage?: typeof AiError.UsageInfo.Type) =>
      made(
        new AiError.StructuredOutputError({
          description: "no JSON",
          responseText,
          ...(usage === undefined ? {} : { usage })
        })
      )
    const error = unread("{", { promptTokens: 3, completionTokens: 4 })
    assert.deepStrictEqual(factsOf(error), {
      tag: "UnknownLlmError",
      ...p,
      detail: "no JSON",
      usage: Usage.make({ inputTokens: 3, outputTokens: 4 })
    })
    assert.strictEqual(error.partial, "{")
    assert.deepStrictEqual(unread("{", {}).usage, Usage.empty)
    const bare = unread("")
    assert.deepStrictEqual(["usage" in bare, "partial" in bare], [false, false])
  })

  it("are the message and the names of the error in the body [P1107]", () => {
    const ofBody = (error: object | string, reason: typeof AiError.UnknownError | typeof AiError.InvalidRequestError) =>
      facts(new reason({ http: { body: JSON.stringify({ error }) } }))
    const invalid = { tag: "InvalidRequestError", ...p }
    for (const error of [{ message: "an odd field" }, "an odd field"]) {
      assert.deepStrictEqual(ofBody(error, AiError.InvalidRequestError), { ...invalid, detail: "an odd field" })
    }
    for (const name of ["code", "type", "status"]) {
      assert.strictEqual(ofBody({ [name]: "invalid_request_error" }, AiError.UnknownError)["tag"], invalid.tag)
    }
    assert.strictEqual(ofBody({ name: "invalid_request_error" }, AiError.UnknownError)["tag"], "UnknownLlmError")
    assert.strictEqual(facts(new AiError.UnknownError(http(404)))["tag"], "ModelNotFoundError")
    const plain = new AiError.InvalidRequestError({ http: { body: "an odd field" } })
    assert.deepStrictEqual(facts(plain), { ...invalid, detail: "an odd field" })
  })

  it("are the host and the port of a lost connection; a URL without a host is left out [P1107]", () => {
    const peer = (url: string) => {
      const error = made(new AiError.NetworkError({ reason: "TransportError", method: "POST", url }))
      assert(error._tag === "NetworkError")
      return [error.host, error.port]
    }
    assert.deepStrictEqual(peer("https://a.test:81/x"), ["a.test", 81])
    assert.deepStrictEqual(peer("https://a.test/x"), ["a.test", undefined])
    for (const url of ["data:x", "no URL"]) assert.deepStrictEqual(peer(url), ["p", undefined])
  })
})
