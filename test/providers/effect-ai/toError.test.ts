/** The reasons of `effect/ai` that errors of ours become. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Duration } from "effect"
import { AiError } from "effect/ai"

const now = 1_767_607_201_000
const made = (error: LlmError.LlmError) => EffectAi.toAiError(error, { now })
const reasonOf = (error: LlmError.LlmError) => made(error).reason

describe("the reason of an error", () => {
  it("names the module and the method, which have names of their own where none are given [P1107]", () => {
    const error = LlmError.ServerError.make({ model: "m" })
    assert.deepInclude(made(error), { module: "Model", method: "generate" })
    assert.deepInclude(EffectAi.toAiError(error, { now, module: "OpenAi", method: "stream" }), {
      module: "OpenAi",
      method: "stream"
    })
  })

  it("says what it is about [P1107]", () => {
    const refused = (status?: number) =>
      reasonOf(
        LlmError.AuthenticationError.make({ model: "m", detail: "no", ...(status === undefined ? {} : { status }) })
      )
    assert.deepInclude(refused(401), { _tag: "AuthenticationError", kind: "InvalidKey" })
    assert.deepInclude(refused(403), { _tag: "AuthenticationError", kind: "InsufficientPermissions" })
    assert.deepInclude(refused(), { _tag: "AuthenticationError", kind: "Unknown" })
    const missing = reasonOf(LlmError.ModelNotFoundError.make({ model: "m" }))
    assert.deepInclude(missing, { _tag: "InvalidRequestError", parameter: "model" })
    const unable = (capability: LlmError.Capability) =>
      reasonOf(LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability }))._tag
    assert.strictEqual(unable("structuredOutput"), "UnsupportedSchemaError")
    assert.strictEqual(unable("vision"), "InvalidRequestError")
  })

  it("has the host of a lost connection, with its port if there is one, and the provider of a slow answer [P1107]", () => {
    const url = (error: LlmError.LlmError) => {
      const reason = reasonOf(error)
      assert(reason._tag === "NetworkError")
      return reason.url
    }
    assert.strictEqual(url(LlmError.NetworkError.make({ host: "a.test" })), "a.test")
    assert.strictEqual(url(LlmError.NetworkError.make({ host: "a.test", port: 81 })), "a.test:81")
    const slow = { model: "m", operation: "generate", timeout: Duration.seconds(1) }
    assert.strictEqual(url(LlmError.RequestTimeoutError.make({ ...slow, provider: "p" })), "p")
    assert.strictEqual(url(LlmError.RequestTimeoutError.make(slow)), "")
  })

  it("has the status and the id of the request, and the error itself under the name of this library [P1107]", () => {
    const error = LlmError.ServerError.make({ model: "m", status: 500, requestId: "r1" })
    const reason = reasonOf(error)
    assert(reason._tag === "InternalProviderError")
    assert.deepStrictEqual(reason.http, { response: { status: 500, headers: { "x-request-id": "r1" } } })
    assert.deepStrictEqual(Object.keys(reason.metadata), ["kintsugi"])
    const bare = reasonOf(LlmError.ServerError.make({ model: "m", status: 500 }))
    assert.deepInclude(bare, { http: { response: { status: 500, headers: {} } } })
    for (const status of [undefined, 500.5]) {
      assert.isFalse(
        "http" in reasonOf(LlmError.ServerError.make({ model: "m", ...(status === undefined ? {} : { status }) }))
      )
    }
    // a program may change an error after it was made
    const odd = reasonOf(Object.assign(LlmError.ServerError.make({ model: "m" }), { shouldRetry: "no" }))
    assert.deepInclude(odd, { metadata: {} })
  })

  it("has a wait as a field of its own if it is a rate limit [P801 P1107]", () => {
    const limited = (retryAfter?: Duration.Duration) =>
      Object.entries(
        reasonOf(LlmError.RateLimitError.make({ service: "p", ...(retryAfter === undefined ? {} : { retryAfter }) }))
      ).filter(([key]) => key === "retryAfter")
    assert.deepStrictEqual(limited(Duration.seconds(7)), [["retryAfter", Duration.seconds(7)]])
    assert.deepStrictEqual(limited(), [])
  })
})

describe("an error of effect/ai beneath an error of ours", () => {
  const of = (retryAfter?: Duration.Duration) =>
    AiError.make({
      module: "M",
      method: "m",
      reason: new AiError.RateLimitError(retryAfter === undefined ? {} : { retryAfter })
    })
  const above = (cause: AiError.AiError, more: Partial<Parameters<typeof LlmError.ServerError.make>[0]> = {}) =>
    made(LlmError.ServerError.make({ model: "m", cause, ...more }))

  it("comes back if both agree on a retry and on its wait, and not otherwise [P1107]", () => {
    const [soon, later] = [of(), of(Duration.seconds(7))]
    assert.strictEqual(above(soon), soon)
    assert.strictEqual(above(later, { retryAfter: Duration.seconds(7) }), later)
    assert.notStrictEqual(above(soon, { shouldRetry: false }), soon)
    assert.notStrictEqual(above(soon, { retryAfter: Duration.seconds(7) }), soon)
    assert.notStrictEqual(above(later), later)
    assert.notStrictEqual(above(later, { retryAfter: Duration.seconds(8) }), later)
  })
})
