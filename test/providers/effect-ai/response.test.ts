/** What a response of `effect/ai` has of a reply. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { partsOf, PartWriter } from "../../../packages/providers/src/effect-ai/response.ts"

const opaque: Message.Opaque = { provider: "p", data: { signature: "s" } }
const signed = { kintsugi: { opaque } }
const item: Message.ProviderItem = { type: "provider-item", kind: "web_search", opaque }
const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "f", arguments: "{}", opaque }
const written = { type: "tool-call", id: "c1", name: "f", params: { a: 1 }, metadata: signed }

const usage = Usage.make({
  inputTokens: 10,
  outputTokens: 5,
  cachedInputTokens: 2,
  cacheWriteTokens: 1,
  reasoningTokens: 2
})
const counted = {
  inputTokens: { total: 10, uncached: 7, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 3, reasoning: 2 }
}

const paramsOf = () => ({ a: 1 })

const streamed = (...parts: ReadonlyArray<Model.Part>) => {
  const writer = new PartWriter(paramsOf)
  return parts.flatMap((part) => writer.write(part))
}

const end = (reason: string, metadata: object = {}) => ({ type: "finish", reason, usage: counted, metadata })

describe("a response", () => {
  it("has the parts of a whole reply in their order, and its facts at the end [P1107]", () => {
    const content: Message.Reply["content"] = [
      { type: "reasoning", text: "hm", opaque },
      Message.text("so"),
      item,
      call
    ]
    assert.deepStrictEqual<unknown>(partsOf({ content, finish: "tool-calls", usage }, paramsOf), [
      { type: "reasoning", text: "hm", metadata: signed },
      { type: "text", text: "so" },
      { type: "text", text: "", metadata: { kintsugi: { item } } },
      written,
      end("tool-calls")
    ])
    const facts = { cost: 0.5, requestId: "r1" }
    const reply = { content: [], finish: "stop", usage, model: "m", responseId: "i", ...facts } as const
    assert.deepStrictEqual<unknown>(partsOf(reply, paramsOf), [
      { type: "response-metadata", id: "i", modelId: "m" },
      end("stop", { kintsugi: facts })
    ])
  })

  it("marks a paused reply by an empty text, whole and streamed [P1107]", () => {
    const metadata = { kintsugi: { paused: true } }
    assert.deepStrictEqual<unknown>(partsOf({ content: [], finish: "paused", usage }, paramsOf), [
      { type: "text", text: "", metadata },
      end("pause")
    ])
    assert.deepStrictEqual<unknown>(streamed({ type: "finish", finish: "paused", usage }), [
      { type: "text-start", id: "text-0", metadata },
      { type: "text-end", id: "text-0", metadata: {} },
      end("pause")
    ])
  })

  it("has a start and an end around each streamed text and thought, each with an id of its own [P1107]", () => {
    const parts = streamed(
      { type: "reasoning-delta", text: "h" },
      { type: "reasoning-delta", text: "m" },
      { type: "reasoning-delta", text: "", opaque },
      { type: "text-delta", text: "s" },
      { type: "text-delta", text: "o" },
      { type: "usage", usage },
      item,
      { type: "reasoning-delta", text: "hm", opaque },
      call,
      { type: "finish", finish: "tool-calls", usage }
    )
    const metadata = {}
    assert.deepStrictEqual<unknown>(parts, [
      { type: "reasoning-start", id: "reasoning-0", metadata },
      { type: "reasoning-delta", id: "reasoning-0", delta: "h" },
      { type: "reasoning-delta", id: "reasoning-0", delta: "m" },
      { type: "reasoning-end", id: "reasoning-0", metadata: signed },
      { type: "text-start", id: "text-1", metadata },
      { type: "text-delta", id: "text-1", delta: "s" },
      { type: "text-delta", id: "text-1", delta: "o" },
      { type: "text-end", id: "text-1", metadata },
      { type: "text-start", id: "text-2", metadata: { kintsugi: { item } } },
      { type: "text-end", id: "text-2", metadata },
      { type: "reasoning-start", id: "reasoning-3", metadata },
      { type: "reasoning-delta", id: "reasoning-3", delta: "hm" },
      { type: "reasoning-end", id: "reasoning-3", metadata: signed },
      written,
      end("tool-calls")
    ])
  })

  it("is done with its finish part, which closes what is open [P504 P1107]", () => {
    const writer = new PartWriter(paramsOf)
    writer.write({ type: "text-delta", text: "so" })
    assert.isFalse(writer.isDone)
    assert.deepStrictEqual<unknown>(writer.write({ type: "finish", finish: "length", usage }), [
      { type: "text-end", id: "text-0", metadata: {} },
      end("length")
    ])
    assert.isTrue(writer.isDone)
  })
})
