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
  it("holds texts, thoughts and calls in their order, with all tokens of the prompt [A114]", () => {
    const reply = both(
      [
        { type: "thinking", thinking: "hm, let me see", signature: "c2ln" },
        { type: "redacted_thinking", data: "EmwK" },
        text("I'll look."),
        use("c1", { q: "a", deep: [1, { b: null }] }),
        use("c2", {})
      ],
      "tool_use"
    )
    assert.deepStrictEqual(reply, {
      content: [
        { type: "reasoning", text: "hm, let me see", opaque: { provider, data: "c2ln" } },
        {
          type: "provider-item",
          kind: "redacted_thinking",
          opaque: { provider, data: { type: "redacted_thinking", data: "EmwK" } }
        },
        Message.text("I'll look."),
        { type: "tool-call", id: "c1", name: "search", arguments: { q: "a", deep: [1, { b: null }] } },
        { type: "tool-call", id: "c2", name: "search", arguments: {} }
      ],
      finish: "tool-calls",
      usage,
      model: "claude-x-1",
      rawFinish: "tool_use"
    })
  })

  it("keeps thoughts that are not shown, and distinguishes unsigned ones", () => {
    const thinking = (thinking: string, signature: string): Block => ({ type: "thinking", thinking, signature })
    const reply = both([thinking("", "only-signed"), thinking("a", ""), thinking("b", "sig-b")])
    assert.deepStrictEqual(reply.content, [
      { type: "reasoning", text: "", opaque: { provider, data: "only-signed" } },
      { type: "reasoning", text: "a", opaque: { provider, data: null } },
      { type: "reasoning", text: "b", opaque: { provider, data: "sig-b" } }
    ])
  })

  it("keeps the sources of a text right behind it, and texts without any as one", () => {
    const citations = [{ type: "web_search_result_location", url: "https://example.org", encrypted_index: "E" }]
    const reply = both([text("As of "), text("2025, "), { ...text("it is 4."), citations }, text(" So?")])
    assert.deepStrictEqual(reply.content, [
      Message.text("As of 2025, it is 4."),
      { type: "provider-item", kind: "citations", opaque: { provider, data: citations } },
      Message.text(" So?")
    ])
  })

  it("keeps the text of arguments that make up no object, as the model wrote them [P404]", () => {
    const begun = { type: "content_block_start", index: 0, content_block: use("c1", {}) }
    const piece = (partial_json: string) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json }
    })
    const argumentsOf = (...pieces: ReadonlyArray<string>) => {
      const events = [
        start,
        begun,
        ...pieces.map(piece),
        { type: "content_block_stop", index: 0 },
        ended("tool_use"),
        stop
      ]
      return Message.callsOf(ok(decodeEvents(events))).map(({ arguments: args }) => args)
    }
    assert.deepStrictEqual(argumentsOf('{"a": 1', ",}"), ['{"a": 1,}'])
    assert.deepStrictEqual(argumentsOf("[", "1]"), ["[1]"])
    assert.deepStrictEqual(argumentsOf('"text"'), ['"text"'])
    assert.deepStrictEqual(argumentsOf(), [{}])
    assert.deepStrictEqual(argumentsOf(""), [{}])
    assert.deepStrictEqual(argumentsOf("", '{"a"', ':"é🙂"}'), [{ a: "é🙂" }])
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

  it("counts reasoning tokens apart from text", () => {
    const counts = { input_tokens: 1, output_tokens: 9, output_tokens_details: { thinking_tokens: 6 } }
    assert.deepStrictEqual(
      ok(decode(message([], "end_turn", { usage: counts }))).usage,
      Usage.make({ inputTokens: 1, outputTokens: 9, reasoningTokens: 6 })
    )
  })

  it("keeps the reasoning count if later counts lack it", () => {
    const counts = { output_tokens: 7, output_tokens_details: { thinking_tokens: 6 } }
    const begun = { type: "message_start", message: message([], null, { usage: counts }) }
    assert.strictEqual(ok(decodeEvents([begun, ended("end_turn"), stop])).usage.reasoningTokens, 6)
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

  it("a call that never closed was cut off, with any stop reason [P403]", () => {
    const [begun, , , piece] = eventsOf(use("c1", { q: "long" }), 0, 4)
    const reply = ok(decodeEvents([start, begun, piece, ended("tool_use"), stop]))
    assert.strictEqual(reply.finish, "length")
    assert.deepStrictEqual(Message.callsOf(reply)[0]?.arguments, '{"q"')
    assert.strictEqual(ok(decodeEvents([start, begun, ended("tool_use"), stop])).finish, "length")
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

  it("blocks that never closed are closed in their order, however they came", () => {
    const begun = (index: number) => ({ type: "content_block_start", index, content_block: use(`c${index}`, {}) })
    const indexes = [2, 0, 10, 1]
    const reply = ok(decodeEvents([start, ...indexes.map(begun), ended("end_turn"), stop]))
    assert.deepStrictEqual(
      Message.callsOf(reply).map(({ id }) => id),
      ["c0", "c1", "c2", "c10"]
    )
  })

  it("arguments in blanks are none, and what the model wrote keeps its blanks where it is no object", () => {
    const begun = { type: "content_block_start", index: 0, content_block: use("c1", { q: 1 }) }
    const of = (partial_json: string) =>
      Message.callsOf(
        ok(
          decodeEvents([
            start,
            begun,
            { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } },
            { type: "content_block_stop", index: 0 },
            ended("tool_use"),
            stop
          ])
        )
      )[0]?.arguments
    assert.deepStrictEqual(of(" \n"), { q: 1 })
    assert.strictEqual(of(" [1] "), " [1] ")
  })

  it("counts nothing if no usage came before the first block", () => {
    const decoder = codec.decoder(answer(200, ""))
    const pushed = [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: text("a") },
      { type: "content_block_start", index: 1, content_block: text("b") }
    ].map((event) => decoder.push(JSON.stringify(event)))
    assert.deepStrictEqual(
      pushed.map((step) => ("success" in step ? step.success : step.failure)),
      [[], [{ type: "text-delta", text: "a" }], [{ type: "text-delta", text: "b" }]]
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

  it("the counts at the end replace those at the beginning, if the provider repeats them", () => {
    const repeated = {
      type: "message_delta",
      delta: {},
      usage: { input_tokens: 11, cache_read_input_tokens: null, output_tokens: 9 }
    }
    assert.deepStrictEqual(
      ok(decodeEvents([start, repeated, ended("end_turn"), stop])).usage,
      Usage.make({ inputTokens: 17, outputTokens: 7, cachedInputTokens: 4, cacheWriteTokens: 2 })
    )
  })
})

describe("errors within a success", () => {
  const details = { type: "refusal", category: "cyber", explanation: "It was blocked." }

  it("a refusal is a ContentFilteredError, with its words and what it used up, whole and streamed [T8]", () => {
    const whole = failed(decode(message([], "refusal", { stop_details: details })), LlmError.ContentFilteredError)
    const events = [start, ...eventsOf(text("I"), 0, 9), ended("refusal", { stop_details: details }), stop]
    for (const error of [whole, failed(decodeEvents(events), LlmError.ContentFilteredError)]) {
      assert.strictEqual(error.detail, "It was blocked.")
      assert.deepStrictEqual(error.usage, usage)
    }
  })

  it("a refusal and an error of no words have none, whole and streamed [T8]", () => {
    assert.isUndefined(failed(decode(message([], "refusal")), LlmError.ContentFilteredError).detail)
    assert.isUndefined(failed(decodeEvents([start, ended("refusal"), stop]), LlmError.ContentFilteredError).detail)
    assert.isUndefined(failed(decodeEvents([start, { type: "error" }]), LlmError.ServerError).detail)
    const counted = failed(decode(message([], "refusal", { type: "other" })), LlmError.ContentFilteredError)
    assert.isUndefined(counted.usage)
  })

  it("an error event is its own error, at any point, with the usage so far [T8]", () => {
    const overloaded = {
      type: "error",
      error: { details: null, type: "overloaded_error", message: "Overloaded" },
      request_id: "r"
    }
    const first = failed(decodeEvents([overloaded]), LlmError.ModelOverloadedError)
    assert.isUndefined(first.usage)
    assert.strictEqual(first.requestId, "r")
    const later = failed(decodeEvents([start, ...eventsOf(text("a"), 0, 1), overloaded]), LlmError.ModelOverloadedError)
    assert.deepStrictEqual(later.usage, { ...usage, outputTokens: 1 })
    failed(decodeEvents([start, { type: "error" }]), LlmError.ServerError)
  })
})
