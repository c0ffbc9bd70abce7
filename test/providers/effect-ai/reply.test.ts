/** How the parts of a response of `effect/ai` are read. */
import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { Response } from "effect/ai"
import { PartReader } from "../../../packages/providers/src/effect-ai/reply.ts"

const usage = {
  inputTokens: { total: undefined, uncached: 7, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: undefined, text: 3, reasoning: 2 }
}

const read = (...parts: ReadonlyArray<Response.AnyPart>) => {
  const reader = new PartReader()
  return parts.flatMap((part) => reader.read(part))
}

const mark = (length: number, metadata: Message.Opaque["data"]) => ({
  type: "provider-item",
  kind: "text",
  opaque: { provider: "effect/ai", data: { metadata, length } }
})

const signed = (data: Message.Opaque["data"]) => ({ opaque: { provider: "effect/ai", data } })

const make = Response.makePart

describe("the parts of a response", () => {
  it("are texts and thoughts; an empty text is none, and metadata comes behind its text [P1107]", () => {
    const other = { other: { a: 1 } }
    assert.deepStrictEqual<unknown>(read(make("text", { text: "so" }), make("text", { text: "" })), [
      { type: "text-delta", text: "so" }
    ])
    assert.deepStrictEqual<unknown>(read(make("text", { text: "so", metadata: other })), [
      { type: "text-delta", text: "so" },
      mark(2, other)
    ])
    assert.deepStrictEqual<unknown>(read(make("reasoning", { text: "hm" })), [{ type: "reasoning-delta", text: "hm" }])
    assert.deepStrictEqual<unknown>(read(make("reasoning", { text: "hm", metadata: other })), [
      { type: "reasoning-delta", text: "hm", ...signed(other) }
    ])
  })

  it("belong to their text or thought by its kind and its id, until it ends [P1107]", () => {
    const [one, two, three] = [{ p: { a: 1, b: 1 }, q: { c: 1 } }, { p: { b: 2 } }, { q: [3] }]
    assert.deepStrictEqual<unknown>(
      read(
        make("text-start", { id: "1", metadata: one }),
        make("reasoning-start", { id: "1" }),
        make("text-delta", { id: "1", delta: "so ", metadata: two }),
        make("reasoning-delta", { id: "1", delta: "hm" }),
        make("text-delta", { id: "1", delta: "" }),
        make("reasoning-delta", { id: "1", delta: "" }),
        make("text-delta", { id: "1", delta: "it" }),
        make("reasoning-end", { id: "1" }),
        make("text-end", { id: "1", metadata: three }),
        make("text-end", { id: "1", metadata: two })
      ),
      [
        { type: "text-delta", text: "so " },
        { type: "reasoning-delta", text: "hm" },
        { type: "text-delta", text: "it" },
        mark(5, { p: { a: 1, b: 2 }, q: [3] }),
        mark(0, two)
      ]
    )
    assert.deepStrictEqual<unknown>(
      read(
        make("reasoning-start", { id: "1", metadata: { p: [1] } }),
        make("reasoning-delta", { id: "1", delta: "hm", metadata: { p: { a: 1 } } }),
        make("reasoning-end", { id: "1", metadata: two })
      ),
      [
        { type: "reasoning-delta", text: "hm" },
        { type: "reasoning-delta", text: "", ...signed({ p: { a: 1, b: 2 } }) }
      ]
    )
  })

  it("are items where replies have no part of their kind [P1107]", () => {
    const item = (kind: string, part: object) => ({
      type: "provider-item",
      kind,
      opaque: { provider: "effect/ai", data: { part: { metadata: {}, ...part } } }
    })
    const url = { sourceType: "url", url: new URL("https://a.test/"), id: "s1", title: "A" } as const
    const document = { sourceType: "document", id: "s2", mediaType: "text/plain", title: "B" } as const
    assert.deepStrictEqual<unknown>(
      read(
        make("source", url),
        make("source", document),
        make("file", { mediaType: "image/png", data: new Uint8Array([1, 2, 3]) })
      ),
      [
        item("source", { type: "source", ...url, url: "https://a.test/" }),
        item("source", { type: "source", ...document }),
        item("file", { type: "file", mediaType: "image/png", data: "AQID" })
      ]
    )
  })
})

describe("the end of a response", () => {
  const facts = (more: Partial<Parameters<typeof make<"finish">>[1]>) =>
    read(make("finish", { reason: "stop", usage, response: undefined, ...more }))[0]
  const counted = Usage.make({
    inputTokens: 10,
    outputTokens: 5,
    cachedInputTokens: 2,
    cacheWriteTokens: 1,
    reasoningTokens: 2
  })
  const end = (more: object = {}) => ({ type: "finish", finish: "stop", usage: counted, ...more })

  it("has its reason in our words [P1107]", () => {
    const reasons = {
      stop: "stop",
      length: "length",
      "content-filter": "filtered",
      "tool-calls": "tool-calls",
      pause: "paused",
      error: "other",
      other: "other",
      unknown: "other"
    } as const
    for (const [reason, finish] of Object.entries(reasons)) {
      // the keys of an object are known as texts alone
      assert.deepStrictEqual<unknown>(facts({ reason: reason as keyof typeof reasons }), end({ finish }))
    }
    assert.deepStrictEqual<unknown>(new PartReader().unsaid(), { type: "finish", finish: "other", usage: Usage.empty })
  })

  it("has the id of the request and the tier of the service, if the answer names them [P1107]", () => {
    const response = (headers: Readonly<Record<string, string>>) => ({ response: { status: 200, headers } })
    assert.deepStrictEqual<unknown>(facts(response({ "x-request-id": "r1" })), end({ requestId: "r1" }))
    assert.deepStrictEqual<unknown>(facts(response({ "request-id": "r2" })), end({ requestId: "r2" }))
    const both = response({ "x-request-id": "r1", "request-id": "r2" })
    assert.deepStrictEqual<unknown>(facts(both), end({ requestId: "r1" }))
    for (const headers of [{}, { "x-request-id": "" }]) assert.deepStrictEqual<unknown>(facts(response(headers)), end())
    const metadata = { openai: { serviceTier: "flex" } }
    assert.deepStrictEqual<unknown>(facts({ metadata }), end({ serviceTier: "flex" }))
    assert.deepStrictEqual<unknown>(facts({ metadata: { openai: {} } }), end())
  })

  it("has the facts that a model of ours has written down, and no others [P1107]", () => {
    const kintsugi = { cost: 0.5, serviceTier: "flex", requestId: "r1", isEstimated: true, rawFinish: "end" }
    const openai = { serviceTier: "auto" }
    assert.deepStrictEqual<unknown>(facts({ metadata: { kintsugi, openai } }), end(kintsugi))
    assert.deepStrictEqual<unknown>(facts({ metadata: { kintsugi: { cost: "much" }, openai } }), end())
  })

  it("has the model and the id of the reply [P1107]", () => {
    const metadata = (id: string | undefined, modelId: string | undefined) =>
      make("response-metadata", { id, modelId, timestamp: undefined })
    const finish = make("finish", { reason: "stop", usage, response: undefined })
    assert.deepStrictEqual<unknown>(read(metadata("r1", undefined), metadata(undefined, "m"), finish), [
      end({ model: "m", responseId: "r1" })
    ])
  })
})
