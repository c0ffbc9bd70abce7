/** The codec of the models of the AI SDK: requests, and replies with their errors. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { Duration, Result } from "effect"
import * as Codec from "../../../packages/interop/src/ai-sdk/codec.ts"

const source = { provider: "p.chat", model: "m", secrets: [] }
const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
const search = { id: "a.search", name: "search", args: { n: 1 } } as const

const codecOf = ({
  contextWindow,
  provider = "p.chat",
  providerTools = []
}: {
  readonly contextWindow?: number
  readonly provider?: string
  readonly providerTools?: Array<typeof search>
} = {}) => Codec.make({ ...source, provider }, { version: "v4", provider, providerTools }, contextWindow)

const codec = codecOf()

const answer = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  status: 200,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
  at: 0,
  elapsed: Duration.zero
})

const request = { messages: [], tools: [], toolChoice: "auto" as const }

const decoded = (body: unknown, headers?: Readonly<Record<string, string>>) =>
  Result.getOrThrow(codec.decode(answer(body, headers), request))

const refused = (body: unknown) => {
  const result = codec.decode(answer(body), request)
  assert(Result.isFailure(result))
  return result.failure
}

describe("a codec", () => {
  it("says what its model can do [P1381]", () => {
    assert.deepStrictEqual([codec.providerTools, codecOf({ providerTools: [search] }).providerTools], [false, true])
    assert.notProperty(codec, "contextWindow")
    assert.strictEqual(codecOf({ contextWindow: 8000 }).contextWindow, 8000)
    // thoughts of Anthropic are bound to the tools that its servers run
    assert.notProperty(codec, "bindsThoughts")
    const anthropic = codecOf({ provider: "vertex.anthropic.messages", providerTools: [search] })
    assert.deepStrictEqual<unknown>(anthropic.bindsThoughts, [search])
  })

  it("writes a request as JSON, without what it does not have [P1381]", () => {
    const encoded = (more: object) => JSON.parse(codec.encode({ ...request, ...more }, "whole")) as unknown
    assert.deepStrictEqual(encoded({}), request)
    const output = { name: "a", schema: { type: "string" } }
    assert.deepStrictEqual(encoded({ output, options: { a: { x: 1 } }, more: 1 }), {
      ...request,
      output,
      options: { a: { x: 1 } }
    })
  })

  it("refuses options without the name of a provider [P1381]", () => {
    assert.isUndefined(codec.refuses?.(request))
    assert.isUndefined(codec.refuses?.({ ...request, options: { a: {}, b: { x: 1 } } }))
    for (const value of [1, "x", null, [1]]) {
      const error = codec.refuses?.({ ...request, options: { a: {}, temperature: value, more: 1 } })
      assert(error instanceof LlmError.InvalidRequestError)
      const detail =
        "the option 'temperature' is no object: options of a request are providerOptions of the AI SDK, by the names of providers"
      assert.deepInclude(error, { model: "m", provider: "p.chat", detail })
    }
  })
})

describe("a whole reply", () => {
  it("has its content, and what is said at its end [P1381]", () => {
    const content = [
      { type: "text", text: "hi" },
      { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" }
    ]
    const response = { id: "r", modelId: "m-1" }
    const providerMetadata = { openai: { serviceTier: "flex" }, gateway: { cost: 2 } }
    const finishReason = { unified: "tool-calls", raw: "tool_use" }
    const counts = { inputTokens: { total: 3 }, outputTokens: { total: 4 } }
    const headers = { "x-request-id": "q" }
    assert.deepStrictEqual<unknown>(
      decoded({ content, finishReason, response, providerMetadata, usage: counts }, headers),
      {
        content: [
          { type: "text", text: "hi" },
          { type: "tool-call", id: "c", name: "look", arguments: "{}" }
        ],
        finish: "tool-calls",
        usage: { ...usage, inputTokens: 3, outputTokens: 4 },
        requestId: "q",
        model: "m-1",
        responseId: "r",
        rawFinish: "tool_use",
        cost: 2,
        serviceTier: "flex"
      }
    )
  })

  it("has the id of its request from either header [P1381]", () => {
    const idOf = (headers: Readonly<Record<string, string>>) => decoded({ finishReason: "stop" }, headers).requestId
    assert.deepStrictEqual(
      [{ "x-request-id": "a", "request-id": "b" }, { "request-id": "b" }, { "request-id": "" }, {}].map(idOf),
      ["a", "b", undefined, undefined]
    )
  })

  it("that says little has little [P1381]", () => {
    const bare = { content: [], finish: "stop", usage, rawFinish: "stop" }
    assert.deepStrictEqual<unknown>(decoded({ finishReason: "stop" }), bare)
    for (const odd of [
      { content: "x" },
      { response: "x" },
      { response: { id: 5, modelId: "" } },
      { providerMetadata: 1 }
    ])
      assert.deepStrictEqual<unknown>(decoded({ finishReason: "stop", ...odd }), bare)
    assert.deepStrictEqual<unknown>(decoded({}), { ...bare, finish: "other", rawFinish: "other" })
    assert.deepStrictEqual<unknown>(decoded({ finishReason: { unified: "later", raw: "odd" } }), {
      ...bare,
      finish: "other",
      rawFinish: "odd"
    })
    assert.deepStrictEqual<unknown>(decoded({ finishReason: { unified: "stop", raw: "pause_turn" } }), {
      ...bare,
      finish: "paused",
      rawFinish: "pause_turn"
    })
    assert.notProperty(
      decoded({ finishReason: "stop", providerMetadata: { other: { serviceTier: "x" } } }),
      "serviceTier"
    )
  })

  it("that is none is a failure [P1381]", () => {
    for (const body of ["{", "[]", "5", "null", ""]) {
      const error = refused(body)
      assert(error instanceof LlmError.UnknownLlmError)
      assert.deepInclude(error, { model: "m", provider: "p.chat", status: 200 })
      if (body !== "") assert.strictEqual(error.detail, body)
      assert.include(error.message, "it is not a part of the AI SDK")
    }
    const failed = refused({ type: "error", error: { name: "AI_LoadAPIKeyError", message: "no key" } })
    assert.strictEqual(failed._tag, "AuthenticationError")
    assert.strictEqual(refused({ type: "error" })._tag, "UnknownLlmError")
    const calling = refused({ content: [{ type: "tool-approval-request" }, { type: "text", text: "x" }] })
    assert(calling instanceof LlmError.CapabilityMismatchError)
    assert.deepInclude(calling, {
      model: "m",
      provider: "p.chat",
      capability: "tools",
      detail: "tool-approval-request"
    })
    assert.include(
      calling.message,
      "Model 'm' of p.chat waits for an answer to 'tool-approval-request': tools that a provider runs cannot be approved here"
    )
    const filtered = refused({ finishReason: "content-filter", usage: { inputTokens: 3 } })
    assert.strictEqual(filtered._tag, "ContentFilteredError")
    assert.deepStrictEqual(filtered.usage, { ...usage, inputTokens: 3 })
  })
})

describe("a streamed reply", () => {
  const reading = (...lines: ReadonlyArray<unknown>) => {
    const decoder = codec.decoder(answer("", { "x-request-id": "q" }), request)
    const parts = lines.map((line) =>
      Result.getOrThrow(decoder.push(typeof line === "string" ? line : JSON.stringify(line)))
    )
    return { decoder, parts }
  }

  it("is read line by line until its end, and keeps what it knows of itself [P1381]", () => {
    const { decoder, parts } = reading(
      { type: "response-metadata", id: "r", modelId: "m-1" },
      { type: "response-metadata", id: 5 },
      { type: "text-delta", delta: "hi" }
    )
    assert.deepStrictEqual<unknown>(parts, [[], [], [{ type: "text-delta", text: "hi" }]])
    assert.deepStrictEqual([decoder.framing, decoder.state(), decoder.model?.()], ["ndjson", "open", "m-1"])
    const end = Result.getOrThrow(decoder.push('{"type":"finish","finishReason":"stop"}'))
    assert.deepStrictEqual<unknown>(end, [
      { type: "finish", finish: "stop", usage, requestId: "q", model: "m-1", responseId: "r", rawFinish: "stop" }
    ])
    assert.strictEqual(decoder.state(), "done")
    assert.deepStrictEqual(decoder.end(), Result.succeed([]))
    assert.isUndefined(reading().decoder.model?.())
  })

  it("that is interrupted has its usage and no end [P1381]", () => {
    const finishReason = { unified: "interrupted" }
    const { decoder, parts } = reading({ type: "finish", finishReason, usage: { inputTokens: { total: 3 } } })
    assert.deepStrictEqual<unknown>(parts, [[{ type: "usage", usage: { ...usage, inputTokens: 3 } }]])
    assert.strictEqual(decoder.state(), "open")
  })

  it("fails for a line that is no part, and for the failure in it [P1381]", () => {
    const { decoder } = reading()
    const odd = decoder.push("oops")
    assert(Result.isFailure(odd) && odd.failure instanceof LlmError.UnknownLlmError)
    assert.strictEqual(odd.failure.detail, "oops")
    const failed = decoder.push('{"type":"error","error":{"name":"AI_NoSuchModelError"}}')
    assert(Result.isFailure(failed))
    assert.strictEqual(failed.failure._tag, "ModelNotFoundError")
    const ended = decoder.push('{"type":"finish","finishReason":"error"}')
    assert(Result.isFailure(ended))
    assert.strictEqual(ended.failure._tag, "ServerError")
    assert.strictEqual(decoder.state(), "open")
  })
})
