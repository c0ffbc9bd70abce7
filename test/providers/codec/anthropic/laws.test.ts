/** Laws that the codec of Anthropic's Messages keeps on anything that a server may send, and on any transcript. */
import { assert, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import { Predicate, Result, Schema } from "effect"
import * as fc from "fast-check"
import {
  type Block,
  codec,
  decode,
  decodeEvents,
  message,
  ok,
  type Read,
  streamed
} from "../../_support/anthropicMessages.ts"
import { anyText, nearMiss } from "../../../_support/codec.ts"
import { fixtures, pieces } from "../../../_support/wireFixtures.ts"

const isReply = Schema.is(Message.Reply)

/** A reply that its schema takes, one typed error, or no end. */
const check = (read: Read): void => {
  if (Result.isFailure(read)) assert.isTrue(LlmError.isLlmError(read.failure))
  else if (read.success !== undefined) assert.isTrue(isReply(read.success), JSON.stringify(read.success))
}

const keys = [
  "type",
  "index",
  "message",
  "content",
  "content_block",
  "delta",
  "text",
  "thinking",
  "signature",
  "partial_json",
  "citation",
  "citations",
  "id",
  "name",
  "input",
  "caller",
  "usage",
  "input_tokens",
  "output_tokens",
  "output_tokens_details",
  "thinking_tokens",
  "stop_reason",
  "stop_details",
  "error",
  "model",
  "__proto__"
]

const words = [
  "message_start",
  "message_delta",
  "message_stop",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "ping",
  "error",
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "server_tool_use",
  "text_delta",
  "thinking_delta",
  "signature_delta",
  "input_json_delta",
  "citations_delta",
  "end_turn",
  "refusal",
  "pause_turn",
  "constructor",
  '{"a":1}',
  "{"
]

/** Values that are almost those of a message: known names where they do not belong, and values of any type. */
const near = nearMiss(keys, words)

/** Events of the right types, around anything at all. */
const nearEvent = fc.oneof(
  near,
  fc.record({
    type: fc.constantFrom(...words),
    index: fc.constantFrom<Schema.Json>(0, 1, null, -1, "0"),
    content_block: near,
    delta: fc.oneof(near, fc.record({ type: fc.constantFrom(...words), text: near, partial_json: near })),
    message: near,
    usage: near
  })
)

const texts = fc.oneof(
  anyText(near),
  near.map((content) => JSON.stringify({ content: [content, content] }))
)

const recorded = fixtures
  .filter(({ api, status, streaming }) => api === "anthropic" && status === 200 && streaming)
  .map((fixture) => pieces(fixture))

/** The events of a recorded stream in another order, with gaps and repetitions, any of them cut short. */
const damaged = fc.constantFrom(...recorded).chain((events) => {
  const event = fc.constantFrom(...events)
  const cut = fc.tuple(event, fc.nat(200)).map(([event, length]) => event.slice(0, length))
  const anyOrder = fc.array(fc.oneof({ weight: 5, arbitrary: event }, cut), { maxLength: events.length * 2 })
  return fc.oneof(anyOrder, fc.shuffledSubarray([...events]))
})

it("any body is one reply or one error, and so are any events, damaged recordings too, or they have no end [T8]", () => {
  const near = fc.array(fc.oneof(nearEvent, fc.constant({ type: "message_stop" }), texts), { maxLength: 12 })
  fc.assert(
    fc.property(texts, near, damaged, (body, near, damaged) => {
      check(decode(body))
      check(decodeEvents(near))
      check(decodeEvents(damaged))
    })
  )
})

const json: fc.Arbitrary<Schema.Json> = fc
  .jsonValue({ maxDepth: 3 })
  // jsonValue gives JSON; what it writes as -0, JSON reads as 0
  .map((value) => JSON.parse(JSON.stringify(value)) as Schema.Json)

const blocks: fc.Arbitrary<ReadonlyArray<Block>> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("text"), text: fc.string({ unit: "grapheme" }) }),
    fc.record({
      type: fc.constant("text"),
      text: fc.string(),
      citations: fc.array(json, { minLength: 1, maxLength: 3 })
    }),
    fc.record({ type: fc.constant("thinking"), thinking: fc.string(), signature: fc.base64String() }),
    fc.record({ type: fc.constant("redacted_thinking"), data: fc.base64String() }),
    fc.record({ type: fc.constant("web_search_tool_result"), tool_use_id: fc.string(), content: json }),
    fc.record({
      type: fc.constantFrom("tool_use", "server_tool_use"),
      id: fc.string({ minLength: 1 }),
      name: fc.string({ minLength: 1 }),
      input: fc.dictionary(fc.string(), json)
    })
  ),
  { maxLength: 6 }
)

const reasons = fc.constantFrom("end_turn", "tool_use", "max_tokens", "pause_turn", "never_seen")

it("one message is one reply, whole and in pieces of any length, and goes back as it came, block by block [A114]", () => {
  const retained = blocks.map((content) =>
    content.filter(({ text, signature, type }) =>
      type === "tool_use"
        ? false
        : text === undefined
          ? signature !== ""
          : Predicate.isString(text) && text.trim() !== ""
    )
  )
  fc.assert(
    fc.property(blocks, reasons, fc.integer({ min: 1, max: 9 }), retained, (any, reason, size, content) => {
      assert.deepStrictEqual(decodeEvents(streamed(any, reason, size)), decode(message(any, reason)))
      const sent = Message.settle(ok(decode(message(content, "pause_turn"))), [])
      const body = JSON.parse(codec.encode({ messages: [sent], tools: [], toolChoice: "auto" }, "whole"))
      // texts without sources are one
      const joined: Array<Block> = []
      for (const block of content) {
        const last = joined.at(-1)
        if (block["type"] === "text" && last?.["type"] === "text" && !("citations" in last)) {
          joined[joined.length - 1] = { ...block, text: `${String(last["text"])}${String(block["text"])}` }
        } else joined.push(block)
      }
      assert.deepStrictEqual(body.messages, joined.length === 0 ? [] : [{ role: "assistant", content: joined }])
    })
  )
})
