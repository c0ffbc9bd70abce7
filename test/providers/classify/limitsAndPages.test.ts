/**
 * Words of providers that were lost, or had the class of something else: spend limits, long inputs, pages of firewalls,
 * requests for a lower rate, and the lists of validators. Their sources are public reports and pages, looked up on
 * 2026-11-26: openai help 6614457, anthropics/claude-code#2127, eca#231, php-mistral#76, bedrock-chat#95.
 */
import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Provider from "@kintsugi/providers/Provider"
import { answer, type Api, apis, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const classify = (api: Api, status: number, body: unknown, headers?: Readonly<Record<string, string>>) =>
  formats[api].classify(source, answer(status, body, headers))

type Row = readonly [what: string, api: Api, status: number, body: unknown, tag: LlmError.LlmError["_tag"]]

const openAi = (code: string) => ({
  error: { message: "You exceeded your current quota.", type: "insufficient_quota", code }
})

const anthropic = (message: string, more: object = {}) => ({
  type: "error",
  error: { type: "invalid_request_error", message, ...more }
})

const gemini = (message: string) => ({ error: { code: 429, message, status: "RESOURCE_EXHAUSTED" } })

const xAi = {
  code: "The caller does not have permission to execute the specified operation",
  error: "Your team t-1 has either used all available credits or reached its monthly spending limit."
}

const limit = "QuotaExhaustedError"
const long = "ContextTooLongError"

const rows: ReadonlyArray<Row> = [
  ["OpenAI's project", "openai-chat", 429, openAi("project_spend_limit_exceeded"), limit],
  ["OpenAI's organization", "openai-responses", 429, openAi("organization_spend_limit_exceeded"), limit],
  [
    "OpenAI, by its code alone",
    "openai-responses",
    429,
    { error: { code: "credit_balance_exhausted", type: "rate_limit_error" } },
    limit
  ],
  [
    "Anthropic's organization",
    "anthropic",
    400,
    anthropic("You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
    limit
  ],
  [
    "Anthropic's workspace",
    "anthropic",
    400,
    anthropic("You have reached your specified workspace API usage limits."),
    limit
  ],
  [
    "Anthropic's tier",
    "anthropic",
    429,
    anthropic("x", { type: "rate_limit_error", details: { error_code: "enforced_spend_limit_reached" } }),
    limit
  ],
  ["Gemini's project", "gemini", 429, gemini("Your project has exceeded its monthly spending cap."), limit],
  [
    "Gemini's project, behind OpenAI's format",
    "openai-chat",
    429,
    gemini("It exceeded its monthly spending cap"),
    limit
  ],
  ["Gemini's credits", "gemini", 429, gemini("Your prepayment credits are depleted."), limit],
  ["xAI's team", "openai-chat", 403, xAi, limit],
  ["a subscription", "openai-chat", 400, { error: { message: "You've hit your monthly spend limit" } }, limit],
  ["Bedrock", "anthropic", 400, { message: "Input is too long for requested model." }, long],
  ["Bedrock, in OpenAI's format", "openai-chat", 400, { error: { message: "Input is too long" } }, long],
  ["words alone with 429", "openai-chat", 429, { error: "slow down" }, "RateLimitError"],
  ["words alone with 429, as a text", "ollama", 429, "Please slow down", "RateLimitError"],
  [
    "a code with 429",
    "openai-responses",
    429,
    { error: { code: "slow_down", type: "rate_limit_error", message: "Slow down" } },
    "RateLimitError"
  ],
  ["a code with 503", "openai-chat", 503, { error: { code: "slow_down" } }, "ModelOverloadedError"],
  ["words with 503", "openai-chat", 503, { error: { message: "Slow down" } }, "ModelOverloadedError"],
  ["an overload with 429", "openai-chat", 429, { error: { message: "Overloaded, slow down" } }, "ModelOverloadedError"]
]

describe("spend limits, long inputs and lower rates have their class", () => {
  it.each(rows)("%s [P1405]", (_, api, status, body, tag) => {
    const error = classify(api, status, body)
    assert.strictEqual(error._tag, tag, error.message)
    if (tag === "RateLimitError") assert.isTrue(error.isRetryable)
    if (tag === limit || tag === long) assert.isFalse(error.isRetryable)
  })
})

const page = `<!DOCTYPE html>
<html><head><title>Attention Required!
  | Cloudflare</title></head><body>Sorry, you have been blocked. Unauthorized. Your api key.</body></html>`

it.each(apis)("the page of a firewall in front of %s says nothing about the key [P1405]", (api) => {
  const error = classify(api, 403, page, { "content-type": "text/html", "cf-ray": "1" })
  assert.strictEqual(error._tag, "NetworkError")
  assert.deepInclude(error, { status: 403, model: "m", provider: "p", detail: "Attention Required! | Cloudflare" })
  assert.include(error.message, "A firewall or a proxy answered with a page")
  assert.notInclude(error.message, "key")
  const untitled = classify(api, 403, "\n <html><body>No.</body></html>")
  assert.strictEqual(untitled._tag, "NetworkError")
  assert.strictEqual(untitled.detail ?? "", "")
  // an answer of the server itself, and a page with another status, are what they were
  for (const body of ["", "{}", "Forbidden", "not <html>", "<?xml version='1.0'?><Error/>"]) {
    assert.strictEqual(classify(api, 403, body)._tag, "AuthenticationError", body)
  }
  assert.strictEqual(classify(api, 401, page)._tag, "AuthenticationError")
  assert.strictEqual(classify(api, 502, page)._tag, "ServerError")
})

const extra = { type: "extra_forbidden", msg: "Extra inputs are not permitted", input: "the words of a user" }

const validators: ReadonlyArray<readonly [string, unknown, string]> = [
  [
    "Mistral: an object in the place of the message",
    { object: "error", message: { detail: [{ ...extra, loc: ["body", "max_completion_tokens"] }] }, code: null },
    "max_completion_tokens: Extra inputs are not permitted"
  ],
  [
    "Mistral: a list in the place of the message, and again beside it",
    {
      object: "Error",
      detail: [{ ...extra, loc: ["body", "tools"] }],
      message: [{ ...extra, loc: ["body", "tools"] }]
    },
    "tools: Extra inputs are not permitted"
  ],
  [
    "FastAPI: two fields",
    {
      detail: [
        { loc: ["body", "messages", 0, "user", "name"], msg: "field required" },
        { loc: ["query", "n"], msg: "no number" }
      ]
    },
    "messages.0.user.name: field required; query.n: no number"
  ],
  [
    "a path with steps that are no names",
    { detail: [{ loc: ["body", "tools", null, { a: 1 }, 2], msg: "no" }] },
    "tools.2: no"
  ],
  ["a list in which the second item has the error", [{ id: "r-1" }, { error: { message: "no" } }], "no"],
  ["FastAPI: the body itself", { detail: [{ loc: ["body"], msg: "field required" }] }, "field required"],
  ["FastAPI: a text", { detail: "Not Found" }, "Not Found"],
  ["FastAPI: an object", { detail: { message: "no such model" } }, "no such model"],
  ["errors of another validator", { errors: ["one", { message: "two" }] }, "one; two"],
  ["an object within an error", { error: { message: { detail: [{ msg: "no" }] } } }, "no"],
  ["no words at all", { message: { a: [{}] }, detail: [null, 1] }, ""]
]

describe("the words of validators are kept", () => {
  it.each(validators)("%s [P1405]", (_, body, words) => {
    for (const api of apis) {
      const error = classify(api, 422, body)
      assert.strictEqual(error.detail ?? "", words, api)
      if (words !== "") assert.include(error.message, words)
    }
  })
})

it("words at any depth of a body are read without an end of the stack [P1405 P1391]", () => {
  const nested = `${'{"message":'.repeat(20_000)}"deep"${"}".repeat(20_000)}`
  for (const api of apis) assert.strictEqual(classify(api, 422, nested).detail, undefined)
})
