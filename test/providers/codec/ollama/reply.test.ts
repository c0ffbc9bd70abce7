import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import type * as Model from "@kintsugi/core/Model"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result } from "effect"
import { answerOf, failed, ok, streamed, whole } from "../../../_support/codec.ts"

const source: Provider.Source = { provider: "ollama", model: "llama3", secrets: [] }
const codec = OllamaChat.make(source)

const created_at = "2025-06-09T17:58:55.337823Z"

const line = (message: object, more: object = { done: false }) => ({
  model: "llama3",
  created_at,
  message: { role: "assistant", content: "", ...message },
  ...more
})

const done = (more: object = {}) => ({
  done: true,
  done_reason: "stop",
  prompt_eval_count: 20,
  eval_count: 5,
  ...more
})

const wireCall = (name: string, args: unknown, id?: string) => ({
  ...(id === undefined ? {} : { id }),
  function: { name, arguments: args }
})

describe("replies", () => {
  it("reads thoughts, text and calls, whole and in lines up to the last one, without which there is no end [P504]", () => {
    const calls = [wireCall("f", { x: 1 }), wireCall("g", {}, "call_9")]
    const reply = ok(whole(codec, line({ thinking: "hmm", content: "let me see", tool_calls: calls }, done())))
    assert.deepStrictEqual(reply, {
      content: [
        { type: "reasoning", text: "hmm", opaque: { provider: "ollama", data: "thinking" } },
        { type: "text", text: "let me see" },
        { type: "tool-call", id: "call_20250609175855337823_0", name: "f", arguments: { x: 1 } },
        { type: "tool-call", id: "call_9", name: "g", arguments: {} }
      ],
      finish: "tool-calls",
      usage: { inputTokens: 20, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      model: "llama3",
      rawFinish: "stop"
    })
    const lines = [
      line({ thinking: "h" }),
      line({ thinking: "mm" }),
      line({ content: "let " }),
      line({ tool_calls: calls.slice(0, 1) }),
      line({ content: "me see" }),
      line({ tool_calls: calls.slice(1) }),
      // the model is that of the last line that names one
      { message: {}, ...done() }
    ]
    assert.deepStrictEqual(ok(streamed(codec, [...lines, "nonsense"])), reply)
    assert.deepStrictEqual(streamed(codec, lines.slice(0, -1)), Result.succeed(undefined))
    const decoder = codec.decoder(answerOf(""))
    for (const line of lines) assert(Result.isSuccess(decoder.push(JSON.stringify(line))))
    assert.deepStrictEqual(decoder.end(), Result.succeed([]))
  })

  it("generates ids that are unique over all lines, and no longer than every provider takes in the ids of calls [A114]", () => {
    const lines = [
      line({ tool_calls: [wireCall("f", {}), wireCall("f", {}, "x")] }),
      line({ tool_calls: [wireCall("f", {}, "x")] }, { done: false, created_at: "2025-06-09T17:58:57Z" }),
      line({ tool_calls: [wireCall("f", {}), wireCall("f", {}, "call_20250609175855337823_5"), wireCall("f", {})] }),
      line({}, done())
    ]
    const ids = Message.callsOf(ok(streamed(codec, lines))).map(({ id }) => id)
    const made = (index: number) => `call_20250609175855337823_${index}`
    assert.deepStrictEqual(ids, [made(0), "x", made(2), made(3), made(5), made(6)])
    const careless = ok(whole(codec, { message: { tool_calls: [{}] }, done: true }))
    assert.deepStrictEqual(careless.content, [{ type: "tool-call", id: "call_0", name: "", arguments: null }])
    const long = { created_at: `2025-06-09T17:58:55.${"1".repeat(60)}Z`, done: true }
    const [call] = Message.callsOf(ok(whole(codec, line({ tool_calls: [wireCall("f", {})] }, long))))
    assert.strictEqual(call?.id, `call_20250609175855${"1".repeat(9)}_0`)
  })

  it("has a finish reason, also if the provider sends none", () => {
    const finishOf = (more: object, message: object = { content: "a" }) => ok(whole(codec, line(message, more))).finish
    const calling = { tool_calls: [wireCall("f", {})] }
    assert.strictEqual(finishOf({ done: true }), "stop")
    assert.strictEqual(finishOf({ done: true }, calling), "tool-calls")
    assert.strictEqual(finishOf(done({ done_reason: "tool_calls" }), calling), "tool-calls")
    assert.strictEqual(finishOf(done({ done_reason: "length" }), calling), "length")
    assert.strictEqual(finishOf(done({ done_reason: "load" }), {}), "other")
  })
})

describe("a prompt that is longer than the context", () => {
  const decoded = (numCtx: number | undefined, prompt_eval_count: number, truncate = false, words = 0) => {
    const own = OllamaChat.make(source, { truncate, ...(numCtx === undefined ? {} : { numCtx }) })
    const answer = answerOf(JSON.stringify(line({ content: "a" }, done({ prompt_eval_count }))))
    return own.decode(answer, { messages: [Message.user("word ".repeat(words))], tools: [], toolChoice: "auto" })
  }

  it("and was cut is an error that names the context, whether all of it is filled or half, or a remark where a cut is allowed", () => {
    for (const [count, words] of [
      [4096, 0],
      [5000, 0],
      [2050, 4500],
      [2047, 4500]
    ] as const) {
      const result = decoded(4096, count, false, words)
      assert(Result.isFailure(result), `${count}`)
      assert(result.failure instanceof LlmError.ContextTooLongError)
      assert.strictEqual(result.failure.limit, 4096)
      assert.strictEqual(result.failure.usage?.inputTokens, count)
      assert.include(result.failure.message, `it read ${count} tokens of it, and num_ctx is 4096`)
    }
    for (const count of [4096, 2050]) {
      assert.deepStrictEqual(ok(decoded(4096, count, true, 4500)).content, [
        { type: "text", text: "a" },
        {
          type: "provider-item",
          kind: "truncated_prompt",
          opaque: { provider: "ollama", data: { prompt_eval_count: count, num_ctx: 4096 } }
        }
      ])
    }
  })

  const image = Message.image("image/png", { data: "AAAA" })

  const prompts: ReadonlyArray<readonly [string, number, Model.Request["messages"]]> = [
    ["half of the context, of digits", 2050, [Message.user("9,1;7.3|".repeat(1250))]],
    ["half of the context, of words that fit in it but for few", 2050, [Message.user("word ".repeat(2050))]],
    ["half of the context, of images", 2050, [Message.user(Array.from({ length: 9 }, () => image))]],
    ["less than its last messages", 3800, Array.from({ length: 20 }, () => Message.user("some word ".repeat(200)))]
  ]

  for (const [what, count, messages] of prompts) {
    it(`and may have been cut is a reply with a remark: ${what} [P1410]`, () => {
      const request = { messages, tools: [], toolChoice: "auto" } as const
      const answer = answerOf(JSON.stringify(line({ content: "a" }, done({ prompt_eval_count: count }))))
      for (const numCtx of [4096, undefined]) {
        const own = OllamaChat.make(source, numCtx === undefined ? {} : { numCtx })
        const [, remark] = ok(own.decode(answer, request)).content
        assert(remark?.type === "provider-item" && remark.kind === "truncated_prompt")
        const { prompt_bytes, ...data } = Object(remark.opaque.data)
        assert.isNumber(prompt_bytes)
        const size = numCtx === undefined ? {} : { num_ctx: numCtx }
        assert.deepStrictEqual(data, { prompt_eval_count: count, ...size, suspected: true })
      }
    })
  }

  it("is compared with the size that is sent, in further fields of the request or of the layer, which win over the option [P1410 P1416]", () => {
    const words = { messages: [Message.user("word ".repeat(6500))], tools: [], toolChoice: "auto" } as const
    const six = Message.user("word ".repeat(1000))
    const extra = { options: { num_ctx: 6000 } }
    const isCut = (codec: Provider.Codec, count: number, more: Partial<Model.Request> = {}) => {
      const answer = answerOf(JSON.stringify(line({ content: "a" }, done({ prompt_eval_count: count }))))
      return Result.isFailure(codec.decode(answer, { ...words, ...more }))
    }
    assert.isTrue(isCut(OllamaChat.make(source, { extra }), 3002))
    assert.isTrue(isCut(OllamaChat.make(source), 3002, { options: extra }))
    assert.isTrue(isCut(OllamaChat.make(source, { extra: { options: { num_ctx: 99 } } }), 3002, { options: extra }))
    assert.isFalse(isCut(OllamaChat.make(source, { extra: { options: { num_ctx: 0 } } }), 3002))
    assert.isTrue(isCut(OllamaChat.make(source, {}, { contextWindow: 6000 }), 3002))
    assert.isTrue(isCut(OllamaChat.make(source, {}, { contextWindow: 6000 }), 6000))
    // the layer may name less than the server has
    assert.isFalse(isCut(OllamaChat.make(source, {}, { contextWindow: 6000 }), 6001))
    assert.isFalse(isCut(OllamaChat.make(source, { extra }), 3002, { messages: [six] }))
    // tools that are not offered are not in the prompt
    const tools = [{ name: "look", description: "word ".repeat(6500), parameters: {} }]
    assert.isTrue(isCut(OllamaChat.make(source, { extra }), 3002, { messages: [six], tools }))
    assert.isFalse(isCut(OllamaChat.make(source, { extra }), 3002, { messages: [six], tools, toolChoice: "none" }))
    assert.isTrue(isCut(OllamaChat.make(source, { numCtx: 90_000, extra }), 3002))
    assert.isTrue(isCut(OllamaChat.make(source, { numCtx: 90_000 }), 3002, { options: extra }))
    const wide = { options: { num_ctx: 90_000 } }
    assert.isFalse(isCut(OllamaChat.make(source, { numCtx: 6000, extra: wide }), 3002))
    // so is whether a cut is allowed
    assert.isFalse(isCut(OllamaChat.make(source, { truncate: false, extra: { ...extra, truncate: true } }), 3002))
    const allowed = { options: { truncate: true } }
    assert.isFalse(isCut(OllamaChat.make(source, { truncate: false, extra }), 3002, allowed))
  })

  it("is not seen in a prompt that fits, in one of half the context, nor without a number to compare", () => {
    for (const [numCtx, count, words] of [
      [4096, 4095, 4500],
      [4096, 2050, 800],
      [4096, 2030, 2800],
      [4096, 0, 4500],
      [undefined, 4096, 4500],
      [undefined, 4000, 4500],
      [undefined, 2050, 800],
      [undefined, 10, 400],
      [undefined, 20, 10]
    ] as const) {
      const reply = ok(decoded(numCtx, count, false, words))
      assert.deepStrictEqual(reply.content, [{ type: "text", text: "a" }], `${numCtx} ${count} ${words}`)
    }
  })

  const english = "The quick brown fox jumps over the lazy dog. "
  const whole: ReadonlyArray<readonly [string, number | undefined, number, string]> = [
    ["of which the server counts only what it had not cached", undefined, 12, english.repeat(200)],
    ["of which it counts only that, in a known context", 32_768, 12, english.repeat(800)],
    ["of indented code", 32_768, 7000, `\n${" ".repeat(40)}foo(bar);`.repeat(1200)],
    ["of rules of tables", undefined, 1100, `${"-".repeat(12_000)}\n${english.repeat(100)}`],
    ["that fills half of the context by chance", 4096, 2050, english.repeat(200)],
    ["that fills half of the usual context by chance", undefined, 4098, english.repeat(400)],
    ["of long words that fill half of the context", 4096, 2046, "internationalization ".repeat(620)]
  ]
  for (const [what, numCtx, count, text] of whole) {
    it(`is not taken for cut ${what} [P1410]`, () => {
      const own = OllamaChat.make(source, numCtx === undefined ? {} : { numCtx })
      const answer = answerOf(JSON.stringify(line({ content: "a" }, done({ prompt_eval_count: count }))))
      const { content } = ok(own.decode(answer, { messages: [Message.user(text)], tools: [], toolChoice: "auto" }))
      assert.deepStrictEqual(content, [{ type: "text", text: "a" }])
    })
  }

  it("is a ContextTooLongError if the server may not truncate, in its own words or those of its runner", () => {
    const runner = {
      error: {
        code: 400,
        message: "request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 8889,
        n_ctx: 4096
      }
    }
    const own =
      "the prompt is longer than the context length currently available to the model; shorten it, or raise num_ctx"
    for (const error of [JSON.stringify(runner), own, "the input length exceeds the context length"]) {
      const classified = codec.classify({ ...answerOf(JSON.stringify({ error })), status: 400 })
      assert(classified instanceof LlmError.ContextTooLongError, `${classified._tag}: ${error}`)
    }
    const error = codec.classify({ ...answerOf(JSON.stringify({ error: JSON.stringify(runner) })), status: 400 })
    assert(error instanceof LlmError.ContextTooLongError)
    assert.deepStrictEqual([error.limit, error.actual], [4096, 8889])
  })
})

describe("streams", () => {
  it("a line with an error ends it, also after content [T8]", () => {
    const result = streamed(codec, [
      line({ content: "a" }),
      { error: "an error was encountered while running the model" }
    ])
    assert.include(failed(result, LlmError.ServerError).detail, "while running the model")
    const silent = JSON.stringify({ error: { code: 500, type: "runner_gone" } })
    const wordless = failed(streamed(codec, [{ error: silent }]), LlmError.ServerError)
    assert.include(wordless.detail, "runner_gone")
  })
})
