/** The parts of a reply of the AI SDK as parts of a reply of this library. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "effect/Schema"
import { finishes, finishOf, PartReader, usageOf } from "../../../packages/interop/src/ai-sdk/reply.ts"

/** What each part gives, in a row of parts. */
const read = (...parts: ReadonlyArray<JsonObject>) => {
  const reader = new PartReader("p")
  return parts.map((part) => reader.read(part))
}

const one = (part: JsonObject) => read(part)[0]

const opaque = (data: object) => ({ provider: "p", data })

const marked = (length: number, metadata: object, more: object = {}) => ({
  type: "provider-item",
  kind: "text",
  opaque: opaque({ metadata, ...more, length })
})

const cited = { type: "provider-item", kind: "citations", opaque: opaque({ citations: ["c"] }) }

describe("a text", () => {
  it("is one part, with its metadata and what it cites behind it [P1381]", () => {
    const delta = { type: "text-delta", text: "hello" }
    assert.deepStrictEqual<unknown>(one({ type: "text", text: "hello" }), [delta])
    assert.deepStrictEqual<unknown>(one({ type: "text", text: "" }), [])
    assert.deepStrictEqual<unknown>(one({ type: "text", text: 5 }), [])
    const all = { type: "text", text: "hello", providerMetadata: { a: { x: 1 } }, citations: ["c"] }
    assert.deepStrictEqual<unknown>(one(all), [delta, marked(5, { a: { x: 1 } }), cited])
    assert.deepStrictEqual<unknown>(one({ ...all, text: "" }), [marked(0, { a: { x: 1 } }), cited])
    for (const citations of [[], "c", null, {}])
      assert.deepStrictEqual<unknown>(one({ type: "text", text: "hello", citations }), [delta])
    const signed = { type: "text", text: "hello", providerMetadata: { g: { thoughtSignature: "s" } } }
    assert.deepStrictEqual<unknown>(one(signed), [delta, marked(5, { g: {} }, { thoughtSignature: { g: "s" } })])
  })

  it("in pieces has the length and the metadata of all of them at its end [P1381]", () => {
    const pieces = read(
      { type: "text-start", id: "1", providerMetadata: { a: { x: 1, y: 1 } } },
      { type: "text-delta", id: "1", delta: "he" },
      { type: "text-delta", id: "1", delta: "", providerMetadata: { a: { y: 2 }, b: {} } },
      { type: "text-delta", id: "1", delta: "llo" },
      { type: "text-end", id: "1", providerMetadata: { b: { z: 3 } }, citations: ["c"] },
      { type: "text-end", id: "1", providerMetadata: { b: { z: 3 } } }
    )
    assert.deepStrictEqual<unknown>(pieces, [
      [],
      [{ type: "text-delta", text: "he" }],
      [],
      [{ type: "text-delta", text: "llo" }],
      [marked(5, { a: { x: 1, y: 2 }, b: { z: 3 } }), cited],
      // the text has ended before
      [marked(0, { b: { z: 3 } })]
    ])
  })

  it("shares its pieces with no other text, and with no thought of its id [P1381]", () => {
    const start = (type: string, id: string, name: string) => ({
      type: `${type}-start`,
      id,
      providerMetadata: { [name]: {} }
    })
    const pieces = read(
      start("text", "1", "a"),
      start("text", "2", "b"),
      start("reasoning", "1", "c"),
      { type: "text-delta", id: "1", delta: "x" },
      { type: "text-delta", id: "2", delta: "yz" },
      { type: "text-end", id: "1" },
      { type: "text-end", id: "2" },
      { type: "reasoning-end", id: "1" }
    )
    assert.deepStrictEqual<unknown>(pieces.slice(5), [
      [marked(1, { a: {} })],
      [marked(2, { b: {} })],
      [{ type: "reasoning-delta", text: "", opaque: opaque({ metadata: { c: {} } }) }]
    ])
  })
})

describe("a thought", () => {
  it("is one part with its metadata, or pieces with it at their end [P1381]", () => {
    assert.deepStrictEqual<unknown>(one({ type: "reasoning", text: "hmm" }), [{ type: "reasoning-delta", text: "hmm" }])
    assert.deepStrictEqual<unknown>(one({ type: "reasoning", providerMetadata: { a: { x: 1 } } }), [
      { type: "reasoning-delta", text: "", opaque: opaque({ metadata: { a: { x: 1 } } }) }
    ])
    const pieces = read(
      { type: "reasoning-start", id: "1", providerMetadata: { a: { x: 1 } } },
      { type: "reasoning-delta", id: "1", delta: "hmm" },
      { type: "reasoning-delta", id: "1", delta: "", providerMetadata: { a: { y: 2 } } },
      { type: "reasoning-end", id: "1", providerMetadata: { b: {} } },
      { type: "reasoning-end", id: "2" }
    )
    assert.deepStrictEqual<unknown>(pieces, [
      [],
      [{ type: "reasoning-delta", text: "hmm" }],
      [],
      [{ type: "reasoning-delta", text: "", opaque: opaque({ metadata: { a: { x: 1, y: 2 }, b: {} } }) }],
      []
    ])
  })
})

describe("any other part", () => {
  it("is a call, or an item if the provider has run it [P1381]", () => {
    const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: '{"n":1}' }
    const made = { type: "tool-call", id: "c", name: "look", arguments: '{"n":1}' }
    assert.deepStrictEqual<unknown>(one(call), [made])
    assert.deepStrictEqual<unknown>(one({ ...call, providerExecuted: false, providerMetadata: { a: {} } }), [
      { ...made, opaque: opaque({ metadata: { a: {} } }) }
    ])
    assert.deepStrictEqual<unknown>(one({ type: "tool-call" }), [
      { type: "tool-call", id: "", name: "", arguments: null }
    ])
    const run = { ...call, providerExecuted: true }
    assert.deepStrictEqual<unknown>(one({ ...run, providerMetadata: { a: { x: 1 } } }), [
      { type: "provider-item", kind: "look", opaque: opaque({ metadata: { a: { x: 1 } }, part: run }) }
    ])
    assert.deepStrictEqual<unknown>(one(run), [
      { type: "provider-item", kind: "look", opaque: opaque({ metadata: {}, part: run }) }
    ])
  })

  it("is an item of its kind: a result, what a provider alone has, a source [P1381]", () => {
    const kindOf = (part: JsonObject) => one(part)?.map((item) => (item.type === "provider-item" ? item.kind : ""))
    assert.deepStrictEqual(kindOf({ type: "tool-result", toolName: "look", result: 1 }), ["look result"])
    assert.deepStrictEqual(kindOf({ type: "tool-result", toolName: "look", preliminary: false }), ["look result"])
    assert.deepStrictEqual(kindOf({ type: "tool-result", toolName: "look", preliminary: true }), [])
    assert.deepStrictEqual(kindOf({ type: "custom", kind: "openai.compaction" }), ["openai.compaction"])
    assert.deepStrictEqual(kindOf({ type: "custom" }), ["custom"])
    assert.deepStrictEqual(kindOf({ type: "source" }), ["source"])
    for (const skipped of [
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "stream-start",
      "response-metadata",
      "ping",
      "raw",
      "finish",
      "error"
    ])
      assert.deepStrictEqual(kindOf({ type: skipped, providerMetadata: { a: { x: 1 } } }), [])
  })
})

it("a finish reason is a text, or the words of the SDK and of the provider [P1381]", () => {
  assert.deepStrictEqual(
    ["stop", { unified: "length", raw: "max_tokens" }, { unified: "stop" }, { raw: "x" }, {}, undefined, null].map(
      (reason) => finishOf(reason)
    ),
    [
      { unified: "stop", raw: undefined },
      { unified: "length", raw: "max_tokens" },
      { unified: "stop", raw: undefined },
      { unified: "other", raw: "x" },
      ...Array.from({ length: 3 }, () => ({ unified: "other", raw: undefined }))
    ]
  )
  assert.deepStrictEqual(
    [...finishes],
    [
      ["stop", "stop"],
      ["length", "length"],
      ["tool-calls", "tool-calls"],
      ["pause_turn", "paused"],
      ["model_context_window_exceeded", "length"]
    ]
  )
})

describe("the usage of a reply", () => {
  const usage = (input: number, output: number, cached = 0, written = 0, thoughts = 0) => ({
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: thoughts
  })

  it("from version 3 on is its totals, or the sum of their parts [P1381]", () => {
    const inputTokens = { total: 100, noCache: 50, cacheRead: 30, cacheWrite: 5 }
    const outputTokens = { total: 40, text: 20, reasoning: 10 }
    assert.deepStrictEqual(usageOf({ inputTokens, outputTokens }, {}), usage(100, 40, 30, 5, 10))
    const { total: _in, ...inputParts } = inputTokens
    const { total: _out, ...outputParts } = outputTokens
    assert.deepStrictEqual(
      usageOf({ inputTokens: inputParts, outputTokens: outputParts }, {}),
      usage(85, 30, 30, 5, 10)
    )
    assert.deepStrictEqual(usageOf({ inputTokens: {}, outputTokens: {} }, {}), usage(0, 0))
    assert.deepStrictEqual(usageOf({ inputTokens }, {}), usage(100, 0, 30, 5))
    assert.deepStrictEqual(usageOf({ outputTokens }, {}), usage(0, 40, 0, 0, 10))
    // the total of a later version has the tokens of the cache, also for Anthropic
    const anthropic = { anthropic: { cacheCreationInputTokens: 7 } }
    assert.deepStrictEqual(usageOf({ inputTokens, outputTokens }, anthropic), usage(100, 40, 30, 5, 10))
  })

  it("of version 2 is its numbers, with those of the cache where the input leaves them out [P1381]", () => {
    const counts = { inputTokens: 100, outputTokens: 40, cachedInputTokens: 30, reasoningTokens: 10 }
    assert.deepStrictEqual(usageOf(counts, {}), usage(100, 40, 30, 0, 10))
    assert.deepStrictEqual(usageOf(counts, { openai: { cacheCreationInputTokens: 7 } }), usage(100, 40, 30, 0, 10))
    assert.deepStrictEqual(usageOf(counts, { anthropic: { cacheCreationInputTokens: 7 } }), usage(137, 40, 30, 7, 10))
    assert.deepStrictEqual(usageOf(counts, { anthropic: {} }), usage(130, 40, 30, 0, 10))
    // more was read from the cache than there is
    assert.deepStrictEqual(usageOf({ ...counts, cachedInputTokens: 101 }, {}), usage(201, 40, 101, 0, 10))
    assert.deepStrictEqual(usageOf({ ...counts, cachedInputTokens: 100 }, {}), usage(100, 40, 100, 0, 10))
    for (const none of [undefined, null, {}, "x"]) assert.deepStrictEqual(usageOf(none, {}), usage(0, 0))
  })
})
