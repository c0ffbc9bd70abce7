/** What the body of an error states beside its words: a status, codes, and the quotas and waits in Google's details. */
import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration } from "effect"
import { answer, type Api, apis, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const classify = (api: Api, status: number, body: unknown): LlmError.LlmError =>
  formats[api].classify(source, answer(status, body))

describe("the status of a body", () => {
  const statuses: ReadonlyArray<readonly [what: string, error: object, status: number]> = [
    ["a number", { code: 529 }, 529],
    ["a text", { code: "529" }, 529],
    ["the least", { code: 400 }, 400],
    ["the most", { code: "599" }, 599],
    ["another field than the code", { code: "x", status: 503 }, 503],
    ["another field than a code that is no status", { code: 1429, status: "503" }, 503],
    ["too small", { code: 399 }, 422],
    ["too large", { code: 600 }, 422],
    ["a success", { code: "200" }, 422],
    ["a part", { code: 429.5 }, 422],
    ["a list", { code: [429], status: null }, 422],
    ["too many digits", { code: "4290" }, 422]
  ]
  it.each(statuses)("%s [T8 T35]", (_, error, status) => {
    for (const api of apis) {
      assert.strictEqual(classify(api, 422, { error: { message: "no", ...error } }).status, status, api)
      assert.strictEqual(classify(api, 422, { error: "no", ...error }).status, status, api)
    }
  })
})

describe("codes that name an error of many kinds", () => {
  const requests = ["invalid_request_error", "INVALID_ARGUMENT", "failed_precondition", "out_of_range"]
  const servers = ["server_error", "api_error", "internal_error", "internal_server_error", "INTERNAL"]
  const tagOf = (status: number, type: string, more: object = {}) =>
    classify("openai-chat", status, { error: { type, message: "no", ...more } })._tag

  it.each(requests)("%s is an invalid request unless the status says more [T35]", (type) => {
    for (const status of [400, 404, 422, 500, 503]) {
      assert.strictEqual(tagOf(status, type), "InvalidRequestError", String(status))
    }
    assert.deepStrictEqual(
      [401, 402, 403, 408, 413, 429].map((status) => tagOf(status, type)),
      [
        "AuthenticationError",
        "QuotaExhaustedError",
        "AuthenticationError",
        "RequestTimeoutError",
        "ContextTooLongError",
        "RateLimitError"
      ]
    )
  })

  it.each(servers)("%s is an error of the server unless its status says more [T35]", (type) => {
    for (const status of [400, 401, 429, 499, 500, 502]) {
      assert.strictEqual(tagOf(status, type), "ServerError", String(status))
    }
    assert.strictEqual(tagOf(503, type), "ModelOverloadedError")
  })

  it("the first of them counts [T35]", () => {
    for (const server of servers) {
      assert.strictEqual(tagOf(500, "invalid_request_error", { code: server }), "ServerError", server)
      assert.strictEqual(tagOf(500, server, { code: "failed_precondition" }), "InvalidRequestError", server)
    }
  })
})

it("the code of Azure's inner error counts [T35]", () => {
  const error = { code: "x", message: "no", innererror: { code: "ResponsibleAIPolicyViolation" } }
  assert.strictEqual(classify("openai-chat", 500, { error })._tag, "ContentFilteredError")
  assert.strictEqual(classify("openai-chat", 500, { error: { ...error, innererror: {} } })._tag, "ServerError")
})

it("what a router says of an error counts, and what it leaves out is that of the server behind it [T8]", () => {
  const details = [{ retryDelay: "7s" }]
  const behind = { error: { code: 429, message: "wait", details, param: "n" }, request_id: "req-behind" }
  const of = (own: object, more: object = {}) =>
    classify("openai-chat", 400, { error: { message: "no", metadata: { raw: behind }, ...own }, ...more })
  const passed = of({})
  assert.deepInclude(passed, {
    _tag: "RateLimitError",
    status: 429,
    requestId: "req-behind",
    retryAfter: Duration.seconds(7),
    detail: "no: wait"
  })
  const own = of({ code: 503, details: [{ retryDelay: "9s" }] }, { request_id: "req-router" })
  assert.deepInclude(own, {
    _tag: "ModelOverloadedError",
    status: 503,
    requestId: "req-router",
    retryAfter: Duration.seconds(9)
  })
  const refused = { error: { code: "unsupported_parameter", message: "no", param: "tools" } }
  const capability = (param?: string) => {
    const error = of({ metadata: { raw: refused }, ...(param === undefined ? {} : { param }) })
    return "capability" in error ? error.capability : error._tag
  }
  assert.deepStrictEqual([capability(), capability("image")], ["tools", "vision"])
})

it("a page has no words, and a text has them without the space around it [T8]", () => {
  for (const api of apis) {
    assert.strictEqual(classify(api, 502, "\n <html>too many requests</html>")._tag, "ServerError", api)
    assert.notProperty(classify(api, 502, "\n <html>too many requests</html>"), "detail", api)
    assert.deepInclude(classify(api, 502, "\n too many requests \n"), {
      _tag: "RateLimitError",
      detail: "too many requests"
    })
    assert.strictEqual(classify(api, 400, "\n unauthorized \n")._tag, "AuthenticationError", api)
  }
})

describe("Google's details", () => {
  const spent: ReadonlyArray<readonly [what: string, error: object]> = [
    ["a quota of a day", { details: [{}, { violations: [{}, { quotaId: "RequestsPerDay" }] }] }],
    ["a quota of zero", { details: [{ violations: [{ quotaValue: "0" }] }] }],
    ["a quota of zero, as a number", { details: [{ violations: [{ quotaValue: 0 }] }] }],
    ["a limit of zero", { message: "exceeded, limit: 0" }],
    ["a day in the words", { message: "exceeded GenerateRequestsPerDay" }],
    ["a spent budget", { message: "It is over the monthly spending cap" }],
    ["spent credits", { message: "The credits are depleted" }]
  ]
  const left: ReadonlyArray<readonly [what: string, error: object]> = [
    ["a quota of a minute", { details: [{ violations: [{ quotaId: "RequestsPerMinute", quotaValue: "10" }] }] }],
    ["a limit above zero", { message: "exceeded, limit: 0.5" }],
    ["a limit of more digits", { message: "exceeded, limit: 01" }],
    ["another limit", { message: "exceeded sublimit: 0" }]
  ]
  for (const [rows, tag] of [
    [spent, "QuotaExhaustedError"],
    [left, "RateLimitError"]
  ] as const) {
    it.each(rows)(`%s is ${tag} [T8 T15]`, (_, error) => {
      for (const named of [{ status: "RESOURCE_EXHAUSTED" }, { code: 429 }]) {
        const body = { error: { message: "no", ...named, ...error } }
        assert.strictEqual(classify("gemini", 429, body)._tag, tag, JSON.stringify(named))
        assert.strictEqual(classify("openai-chat", 429, body)._tag, tag, JSON.stringify(named))
      }
    })
  }

  it("have the wait, of several the longest [T8]", () => {
    const waitOf = (...details: ReadonlyArray<object>) =>
      classify("gemini", 429, { error: { status: "RESOURCE_EXHAUSTED", message: "no", details } }).retryAfter
    assert.deepStrictEqual(waitOf({ retryDelay: "3s" }, { retryDelay: "5s" }, {}), Duration.seconds(5))
    assert.deepStrictEqual(waitOf({ retryDelay: "5s" }, { retryDelay: "4s" }), Duration.seconds(5))
    assert.isUndefined(waitOf({ retryDelay: "soon" }, {}))
  })
})
