import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { Result } from "effect"
import {
  type Block,
  codec,
  decode,
  decodeEvents,
  ended,
  eventsOf,
  failed,
  message,
  ok,
  start,
  stop,
  streamed
} from "../../_support/anthropicMessages.ts"
import { answer } from "../../../_support/wireFixtures.ts"

const usage = Usage.make({ inputTokens: 16, outputTokens: 7, cachedInputTokens: 4, cacheWriteTokens: 2 })

const provider = "anthropic"

/** The reply to this content, the same whole and streamed. */
const both = (content: ReadonlyArray<Block>, stopReason = "end_turn"): Message.Reply => {
  const whole = ok(decode(message(content, stopReason)))
  assert.deepStrictEqual(ok(decodeEvents(streamed(content, stopReason))), whole)
  return whole
}

const text = (value: string): Block => ({ type: "text", text: value })

const search: Block = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "kintsugi" } }

const use = (id: string, input: Block): Block => ({ type: "tool_use", id, name: "search", input })

describe("replies", () => {
  it("holds texts with their sources, thoughts and calls in their order, with all tokens of the prompt [A114]", () => {
    const thinking = (thinking: string, signature: string): Block => ({ type: "thinking", thinking, signature })
    const citations = [{ type: "web_search_result_location", url: "https://example.org", encrypted_index: "E" }]
    const reply = both(
      [
        thinking("hm, let me see", "c2ln"),
        { type: "redacted_thinking", data: "EmwK" },
        thinking("", "only-signed"),
        thinking("a", ""),
        text("As of "),
        text("2025, "),
        { ...text("it is 4."), citations },
        text(" So?"),
        use("c1", { q: "a", deep: [1, { b: null }] }),
        use("c2", {})
      ],
      "tool_use"
    )
    const reasoning = (text: string, data: string | null) => ({ type: "reasoning", text, opaque: { provider, data } })
    assert.deepStrictEqual<unknown>(reply, {
      content: [
        reasoning("hm, let me see", "c2ln"),
        {
          type: "provider-item",
          kind: "redacted_thinking",
          opaque: { provider, data: { type: "redacted_thinking", data: "EmwK" } }
        },
        // thoughts that are not shown are kept, and unsigned ones are distinct
        reasoning("", "only-signed"),
        reasoning("a", null),
        Message.text("As of 2025, it is 4."),
        { type: "provider-item", kind: "citations", opaque: { provider, data: citations } },
        Message.text(" So?"),
        { type: "tool-call", id: "c1", name: "search", arguments: { q: "a", deep: [1, { b: null }] } },
        { type: "tool-call", id: "c2", name: "search", arguments: {} }
      ],
      finish: "tool-calls",
      usage,
      model: "claude-x-1",
      rawFinish: "tool_use"
    })
  })

  it("has the arguments of a call as an object, or as the text that the model wrote [P404]", () => {
    const argumentsOf = (begun: Block, ...pieces: ReadonlyArray<string>) => {
      const events = [
        start,
        { type: "content_block_start", index: 0, content_block: begun },
        ...pieces.map((partial_json) => ({
          type: "content_block_delta",
          index: 0,
          delta: { type: "input_json_delta", partial_json }
        })),
        { type: "content_block_stop", index: 0 },
        ended("tool_use"),
        stop
      ]
      return Message.callsOf(ok(decodeEvents(events))).map(({ arguments: args }) => args)
    }
    for (const [pieces, args] of [
      [['{"a": 1', ",}"], '{"a": 1,}'],
      [[" [", "1] "], " [1] "],
      [['"text"'], '"text"'],
      [[], {}],
      [[""], {}],
      [["", '{"a"', ':"é🙂"}'], { a: "é🙂" }]
    ] as const) {
      assert.deepStrictEqual<unknown>(argumentsOf(use("c1", {}), ...pieces), [args])
    }
    assert.deepStrictEqual(argumentsOf(use("c1", { q: 1 }), " \n"), [{ q: 1 }])
  })

  it("provider-side items go back unchanged, also a call that a program made", () => {
    const found: Block = {
      type: "web_search_tool_result",
      tool_use_id: "s1",
      content: [{ url: "https://example.org" }]
    }
    const caller = { type: "code_execution_20250825", tool_id: "s1" }
    const content = [text("Let me look. "), search, found, { ...use("c1", { q: 1 }), caller }]
    const reply = both(content, "tool_use")
    const back = codec.encode({ messages: [Message.settle(reply, [])], tools: [], toolChoice: "auto" }, "whole")
    assert.deepStrictEqual(JSON.parse(back).messages[0].content, content)
    const direct = both([{ ...use("c1", {}), caller: { type: "direct" } }])
    assert.deepStrictEqual(direct.content, [{ type: "tool-call", id: "c1", name: "search", arguments: {} }])
    const more = { note: null, origin: { type: "direct" } }
    const [annotated] = Message.callsOf(both([{ ...use("c1", {}), ...more }]))
    assert.deepStrictEqual(annotated?.opaque, { provider, data: more })
    const unknown = { type: "never_seen", thinking: "not a thought" }
    assert.deepStrictEqual(ok(decode(message([unknown], "end_turn"))).content, [
      { type: "provider-item", kind: "never_seen", opaque: { provider, data: unknown } }
    ])
  })

  it("has the finish reason of the provider, but never without its calls", () => {
    const finishOf = (reason: string, ...content: ReadonlyArray<Block>) => both([text("a"), ...content], reason).finish
    for (const [reason, finish, withCalls] of [
      ["end_turn", "stop", "tool-calls"],
      ["stop_sequence", "stop", "tool-calls"],
      ["tool_use", "stop", "tool-calls"],
      ["max_tokens", "length", "length"],
      ["model_context_window_exceeded", "length", "length"],
      ["pause_turn", "paused", "tool-calls"],
      ["compaction", "paused", "tool-calls"],
      ["never_seen", "other", "tool-calls"]
    ] as const) {
      assert.strictEqual(finishOf(reason), finish, reason)
      assert.strictEqual(finishOf(reason, use("c1", {})), withCalls, reason)
      // with this reason it waits for the client
      if (reason !== "tool_use") assert.strictEqual(finishOf(reason, search), finish, reason)
    }
  })

  it("fills absent fields, and counts absent tokens as zero", () => {
    const reply = ok(
      decode({
        content: [{ type: "tool_use" }, { type: "text" }, { type: "tool_use", id: "" }, 7, null, { citations: ["x"] }]
      })
    )
    assert.deepStrictEqual(reply, {
      content: [
        { type: "tool-call", id: "call_0", name: "", arguments: null },
        { type: "tool-call", id: "call_2", name: "", arguments: null }
      ],
      finish: "tool-calls",
      usage: Usage.empty
    })
  })

  it("counts reasoning apart, and keeps each count and the finish reason until the provider repeats them", () => {
    const thinking = { output_tokens: 9, output_tokens_details: { thinking_tokens: 6 } }
    const whole = message([], "end_turn", { usage: { input_tokens: 1, ...thinking } })
    assert.deepStrictEqual(ok(decode(whole)).usage, Usage.make({ inputTokens: 1, outputTokens: 9, reasoningTokens: 6 }))
    const begun = { type: "message_start", message: message([], null, { usage: thinking }) }
    const counted = (usage: object) => ({ type: "message_delta", delta: {}, usage })
    const repeated = counted({ input_tokens: 11, cache_read_input_tokens: null, output_tokens: 8 })
    const cached = { cachedInputTokens: 4, cacheWriteTokens: 2 }
    for (const [events, finish, counts] of [
      [[begun, ended("end_turn")], "stop", { outputTokens: 7, reasoningTokens: 6 }],
      [[begun, counted({ input_tokens: 3 })], "stop", { inputTokens: 3, outputTokens: 9, reasoningTokens: 6 }],
      [[start, ended("end_turn")], "stop", { inputTokens: 16, outputTokens: 7, ...cached }],
      [[start, ended("max_tokens"), repeated], "length", { inputTokens: 17, outputTokens: 8, ...cached }]
    ] as const) {
      const reply = ok(decodeEvents([...events, stop]))
      assert.deepStrictEqual([reply.finish, reply.usage], [finish, Usage.make(counts)])
    }
  })
})

describe("streams", () => {
  it("ignores unknown events and deltas, and emits text and thoughts as they arrive [A114]", () => {
    const decoder = codec.decoder(answer(200, ""))
    const push = (event: unknown) => {
      const parts = decoder.push(JSON.stringify(event))
      return "success" in parts ? parts.success : parts.failure
    }
    const delta = (index: number, delta: object) => push({ type: "content_block_delta", index, delta })
    assert.deepStrictEqual(push(start), [])
    assert.deepStrictEqual(push({ type: "never_seen", index: 0 }), [])
    assert.deepStrictEqual(push({ type: "content_block_start", index: 0, content_block: text("a") }), [
      // a stream that is cut off from here on has cost this at least
      {
        type: "usage",
        usage: Usage.make({ inputTokens: 16, outputTokens: 1, cachedInputTokens: 4, cacheWriteTokens: 2 })
      },
      { type: "text-delta", text: "a" }
    ])
    assert.deepStrictEqual(push({ type: "content_block_start", index: 4, content_block: text("") }), [])
    assert.deepStrictEqual(push({ type: "content_block_stop", index: 4 }), [])
    assert.deepStrictEqual(delta(0, { type: "never_seen_delta", text: "x" }), [])
    assert.deepStrictEqual(delta(0, { type: "text_delta", text: "b" }), [{ type: "text-delta", text: "b" }])
    // some servers begin a block with its first piece
    assert.deepStrictEqual(delta(1, { type: "thinking_delta", thinking: "c" }), [
      { type: "reasoning-delta", text: "c" }
    ])
    assert.deepStrictEqual(delta(1, { type: "signature_delta", signature: "s" }), [])
    assert.deepStrictEqual(push({ type: "content_block_stop", index: 1 }), [
      { type: "reasoning-delta", text: "", opaque: { provider, data: "s" } }
    ])
    assert.strictEqual(decoder.state(), "open")
    push(ended("end_turn"))
    assert.strictEqual(decoder.state(), "open")
    assert.deepStrictEqual(push(stop), [
      { type: "finish", finish: "stop", usage, model: "claude-x-1", rawFinish: "end_turn" }
    ])
    assert.strictEqual(decoder.state(), "done")
  })

  it("a stream that begins with a piece of a block is a reply, with each signature and source of it", () => {
    const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta })
    const cited = { type: "web_search_result_location", url: "https://example.org" }
    const reply = ok(
      decodeEvents([
        delta(1, { type: "citations_delta", citation: cited }),
        delta(1, { type: "text_delta", text: "so" }),
        delta(0, { type: "signature_delta" }),
        delta(0, { type: "signature_delta", signature: "s" }),
        delta(2, { type: "text_delta", text: "" }),
        ended("end_turn"),
        stop
      ])
    )
    assert.deepStrictEqual(reply, {
      content: [
        Message.text("so"),
        { type: "reasoning", text: "", opaque: { provider, data: "s" } },
        { type: "provider-item", kind: "citations", opaque: { provider, data: [cited] } }
      ],
      finish: "stop",
      usage: Usage.make({ outputTokens: 7 }),
      rawFinish: "end_turn"
    })
  })

  it("the sources of a text are all there, whether they came with its start or later", () => {
    const delta = (delta: object) => ({ type: "content_block_delta", index: 0, delta })
    const [one, two] = ["https://example.org/1", "https://example.org/2"].map((url) => ({ url }))
    const begun = (more: object) => ({
      type: "content_block_start",
      index: 0,
      content_block: { ...text("so"), ...more }
    })
    const sources = (...events: ReadonlyArray<object>) =>
      ok(decodeEvents([start, ...events, ended("end_turn"), stop])).content[1]
    const cited = (data: ReadonlyArray<unknown>) => ({
      type: "provider-item",
      kind: "citations",
      opaque: { provider, data }
    })
    const later = delta({ type: "citations_delta", citation: two })
    assert.deepStrictEqual<unknown>(sources(begun({ citations: [one] }), later), cited([one, two]))
    assert.deepStrictEqual<unknown>(sources(delta({ type: "text_delta", text: "so" }), later), cited([two]))
  })

  it("blocks that never closed are closed in their order, and a call among them was cut off, with any stop reason [P403]", () => {
    const begun = (index: number) => ({ type: "content_block_start", index, content_block: use(`c${index}`, {}) })
    const indexes = [2, 0, 10, 1]
    const reply = ok(decodeEvents([start, ...indexes.map(begun), ended("end_turn"), stop]))
    assert.deepStrictEqual(
      Message.callsOf(reply).map(({ id }) => id),
      ["c0", "c1", "c2", "c10"]
    )
    assert.strictEqual(reply.finish, "length")
    const [call, , , piece] = eventsOf(use("c1", { q: "long" }), 0, 4)
    const cut = ok(decodeEvents([start, call, piece, ended("tool_use"), stop]))
    assert.deepStrictEqual([cut.finish, Message.callsOf(cut)[0]?.arguments], ["length", '{"q"'])
  })

  it("emits no usage where none came before the first block", () => {
    const decoder = codec.decoder(answer(200, ""))
    const begun = (index: number) => ({ type: "content_block_start", index, content_block: text("a") })
    assert.deepStrictEqual<unknown>(
      [{ type: "message_start", message: {} }, begun(0), begun(1)].map((event) => decoder.push(JSON.stringify(event))),
      [[], [{ type: "text-delta", text: "a" }], [{ type: "text-delta", text: "a" }]].map(Result.succeed)
    )
  })

  it("names another model only behind a block that says so", () => {
    const modelAfter = (type: string, to: Block) => {
      const decoder = codec.decoder(answer(200, ""))
      for (const event of [start, { type: "content_block_start", index: 0, content_block: { type, to } }]) {
        assert.isTrue(Result.isSuccess(decoder.push(JSON.stringify(event))))
      }
      return decoder.model?.()
    }
    assert.strictEqual(modelAfter("fallback", { model: "claude-y" }), "claude-y")
    assert.strictEqual(modelAfter("fallback", {}), "claude-x-1")
    assert.strictEqual(modelAfter("never_seen", { model: "claude-y" }), "claude-x-1")
  })

  it("arguments of a call that never began, and a stream without a message, are no reply", () => {
    const [, , , piece] = eventsOf(use("c1", { q: "long" }), 0, 4)
    assert.include(failed(decodeEvents([start, piece]), LlmError.UnknownLlmError).message, "never began")
    failed(decodeEvents([stop]), LlmError.UnknownLlmError)
    failed(decodeEvents(["nonsense"]), LlmError.UnknownLlmError)
    failed(decodeEvents(["[]"]), LlmError.UnknownLlmError)
    failed(decode("{}"), LlmError.UnknownLlmError)
    failed(decode("nonsense"), LlmError.UnknownLlmError)
  })
})

describe("errors within a success", () => {
  it("is a refusal, or an error event at any point, with its words and what it used up [T8]", () => {
    const details = { stop_details: { type: "refusal", category: "cyber", explanation: "It was blocked." } }
    const overloaded = {
      type: "error",
      error: { details: null, type: "overloaded_error", message: "Overloaded" },
      request_id: "r"
    }
    const counted = { ...usage, outputTokens: 1 }
    const said = [start, ...eventsOf(text("I"), 0, 9)]
    for (const [read, _tag, detail, used, requestId] of [
      [decode(message([], "refusal", details)), "ContentFilteredError", "It was blocked.", usage, undefined],
      [
        decodeEvents([...said, ended("refusal", details), stop]),
        "ContentFilteredError",
        "It was blocked.",
        usage,
        undefined
      ],
      [decode(message([], "refusal")), "ContentFilteredError", undefined, usage, undefined],
      [decodeEvents([start, ended("refusal"), stop]), "ContentFilteredError", undefined, usage, undefined],
      [decode(message([], "refusal", { type: "other" })), "ContentFilteredError", undefined, undefined, undefined],
      [decodeEvents([overloaded]), "ModelOverloadedError", "Overloaded", undefined, "r"],
      [decodeEvents([...said, overloaded]), "ModelOverloadedError", "Overloaded", counted, "r"],
      [decodeEvents([start, { type: "error" }]), "ServerError", undefined, counted, undefined]
    ] as const) {
      assert(Result.isFailure(read))
      const { failure } = read
      assert.deepStrictEqual(
        [failure._tag, failure.detail, failure.usage, failure.requestId],
        [_tag, detail, used, requestId]
      )
    }
  })
})
