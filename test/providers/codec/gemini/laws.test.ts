/** Laws of Gemini's format, on anything that a server may send. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import type * as Provider from "@kintsugi/providers/Provider"
import { Schema } from "effect"
import * as fc from "fast-check"
import { anyText, isTotal, nearMiss, ok, streamed, whole } from "../../../_support/codec.ts"
import { fixtures, pieces } from "../../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "gemini", model: "gemini-2.5-flash", secrets: [] }
const codec = GeminiContent.make(source)
const isReply = Schema.is(Message.Reply)

const names = [
  "candidates",
  "content",
  "parts",
  "text",
  "thought",
  "thoughtSignature",
  "functionCall",
  "id",
  "name",
  "args",
  "finishReason",
  "finishMessage",
  "usageMetadata",
  "promptTokenCount",
  "groundingMetadata",
  "executableCode",
  "promptFeedback",
  "blockReason",
  "modelVersion",
  "responseId",
  "error"
]

const words = ["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "default_api.f("]

const json = nearMiss(names, words)

/** Bodies whose outline is right, and whose parts are anything. */
const anyChunk = fc.oneof(
  json,
  fc
    .record({ parts: fc.array(json, { maxLength: 4 }), reason: fc.oneof(json, fc.constant("STOP")), usage: json })
    .map(({ parts, reason, usage }) => ({
      candidates: [{ content: { parts }, finishReason: reason, groundingMetadata: usage }],
      usageMetadata: usage
    }))
)

const recorded = fixtures
  .filter(({ api, status }) => api === "gemini" && status === 200)
  .map((fixture) => pieces(fixture))

const anyEvent = fc.oneof(
  anyText(anyChunk),
  fc.constantFrom(...recorded.flat()),
  fc.tuple(fc.constantFrom(...recorded.flat()), fc.nat(200)).map(([event, length]) => event.slice(0, length))
)

// Finds out nothing of its own: what fails on a value of a wrong type is new code, and no small mistake in this code
it("any body and any events, recorded ones out of order too, are a reply, one typed error or a stream that was cut off [T8]", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 6 }), (events) => {
      isTotal(streamed(codec, events), isReply)
      for (const body of events) isTotal(whole(codec, body), isReply)
    })
  )
})

const text = fc.string({ minLength: 1, maxLength: 8 })
const signature = fc.option(fc.base64String({ minLength: 4, maxLength: 8 }), { nil: undefined })

const withSignature = (part: object, thoughtSignature: string | undefined) =>
  thoughtSignature === undefined ? part : { ...part, thoughtSignature }

/** Parts as Gemini writes them. */
const part: fc.Arbitrary<object> = fc.oneof(
  fc.tuple(text, signature).map(([text, signed]) => withSignature({ text }, signed)),
  fc.tuple(text, signature).map(([text, signed]) => withSignature({ text, thought: true }, signed)),
  signature.map((signed) => withSignature({ text: "" }, signed ?? "s0")),
  fc
    .tuple(fc.option(fc.uuid(), { nil: undefined }), fc.dictionary(fc.string(), fc.integer()), signature)
    .map(([id, args, signed]) =>
      withSignature({ functionCall: { ...(id === undefined ? {} : { id }), name: "f", args } }, signed)
    ),
  signature.map((signed) => withSignature({ executableCode: { language: "PYTHON", code: "1" } }, signed))
)

/** What is unsigned and of one kind may be joined with its neighbour: it is so already. */
const isJoined = (parts: ReadonlyArray<object>): boolean =>
  parts.every((part, index) => {
    const before = parts[index - 1]
    const kind = (value: object) => `${"text" in value} ${"thought" in value} ${"thoughtSignature" in value}`
    return before === undefined || !("text" in part) || "thoughtSignature" in part || kind(before) !== kind(part)
  })

const chunkOf = (parts: ReadonlyArray<object>, finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
  responseId: "r"
})

describe("there and back", () => {
  const anyParts = fc.array(part, { minLength: 1, maxLength: 6 })

  it("a reply is the same whole and streamed, however its parts are grouped [A114]", () => {
    fc.assert(
      fc.property(anyParts, fc.nat(6), (parts, cut) => {
        const reply = Model.collected(ok(whole(codec, chunkOf(parts, "STOP"))))
        const chunks = [chunkOf(parts.slice(0, cut)), chunkOf(parts.slice(cut), "STOP")]
        assert.deepStrictEqual(ok(streamed(codec, chunks)), reply)
        const single = [...parts.map((part) => chunkOf([part])), chunkOf([], "STOP")]
        assert.deepStrictEqual(ok(streamed(codec, single)), reply)
      })
    )
  })

  it("every part goes back as it came, its signature with it [P1002]", () => {
    fc.assert(
      fc.property(anyParts.filter(isJoined), (parts) => {
        const reply = ok(whole(codec, chunkOf(parts, "STOP")))
        const messages = [Message.settle(reply, [])]
        const body = JSON.parse(codec.encode({ messages, tools: [], toolChoice: "auto" }, "whole"))
        assert.deepStrictEqual(body.contents[0].parts, parts)
      })
    )
  })
})
