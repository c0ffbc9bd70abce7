import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Result } from "effect"
import { answer, chunk, decode, decodeStream, failed, ok, source, whole, wireCall } from "./_support/replies.ts"

describe("how a reply ended", () => {
  const reasons: ReadonlyArray<readonly [string | null | undefined, Message.FinishReason, Message.FinishReason]> = [
    ["stop", "stop", "tool-calls"],
    ["tool_calls", "stop", "tool-calls"],
    ["function_call", "stop", "tool-calls"],
    [undefined, "stop", "tool-calls"],
    [null, "stop", "tool-calls"],
    ["length", "length", "length"],
    ["brand_new", "other", "other"]
  ]
  for (const [reason, withoutCalls, withCalls] of reasons) {
    it(`reads ${reason}, with and without calls, whole and streamed`, () => {
      const fields = reason === undefined ? {} : { finish_reason: reason }
      const calls = { tool_calls: [wireCall("c", "f", "{}")] }
      assert.strictEqual(ok(whole({ content: "x" }, fields)).finish, withoutCalls)
      assert.strictEqual(ok(whole({ content: null, ...calls }, fields)).finish, withCalls)
      const end = [chunk({}, reason ?? null), "[DONE]"]
      assert.strictEqual(ok(decodeStream([chunk({ content: "x" }), ...end])).finish, withoutCalls)
      const piece = { tool_calls: [{ index: 0, ...wireCall("c", "f", "{}") }] }
      assert.strictEqual(ok(decodeStream([chunk(piece), ...end])).finish, withCalls)
    })
  }

  it("a refusal is ContentFilteredError with the model's words, whole and streamed, though the reason is stop", () => {
    const refusal = failed(whole({ content: null, refusal: "I can't assist." }), LlmError.ContentFilteredError)
    assert.strictEqual(refusal.detail, "I can't assist.")
    const pieces = [chunk({ refusal: "I can't " }), chunk({ refusal: "assist." }), chunk({}, "stop"), "[DONE]"]
    assert.strictEqual(failed(decodeStream(pieces), LlmError.ContentFilteredError).detail, "I can't assist.")
    assert.strictEqual(ok(whole({ content: "x", refusal: null })).finish, "stop")
    assert.strictEqual(ok(whole({ content: "x", refusal: "" })).finish, "stop")
  })

  it("a reply that broke off is the error of its reason [T8]", () => {
    failed(whole({ content: "x" }, { finish_reason: "insufficient_system_resource" }), LlmError.ModelOverloadedError)
    failed(whole({ content: "x" }, { finish_reason: "error" }), LlmError.ServerError)
    failed(whole({ content: "x" }, { finish_reason: "content_filter" }), LlmError.ContentFilteredError)
    failed(decodeStream([chunk({ content: "x" }, "error"), "[DONE]"]), LlmError.ServerError)
  })
})

describe("errors within a success", () => {
  it("an error in a 200 body is the error that it names [T8]", () => {
    failed(decode({ error: { code: 502, message: "Provider failed" } }), LlmError.ServerError)
    failed(decode({ error: { code: "insufficient_quota" } }), LlmError.QuotaExhaustedError)
    failed(decode({ error: "model is overloaded" }), LlmError.ModelOverloadedError)
  })

  it("an error event is the error that it names, at any place of the stream [T8]", () => {
    const error = { error: { type: "rate_limit_error", message: "slow down" } }
    failed(decodeStream([error]), LlmError.RateLimitError)
    failed(decodeStream([chunk({ content: "x" }), error]), LlmError.RateLimitError)
    failed(
      decodeStream([chunk({ content: "x" }, "length"), { ...chunk({}), error: { code: 400 } }, "[DONE]"]),
      LlmError.InvalidRequestError
    )
  })

  it("an absent error is none, however it is absent", () => {
    for (const error of [null, false, ""]) {
      assert.strictEqual(Message.textOf(ok(whole({ content: "x" }, {}, { error }))), "x")
    }
  })
})

describe("usage and names", () => {
  it("reads the token counts, and zero for absent ones", () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 }
    }
    const expected = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 }
    assert.deepStrictEqual(ok(whole({ content: "x" }, {}, { usage })).usage, expected)
    for (const absent of [
      {},
      { usage: null },
      { usage: {} },
      { usage: { prompt_tokens: "7", completion_tokens: null } }
    ]) {
      assert.deepStrictEqual(ok(whole({ content: "x" }, {}, absent)).usage, Usage.empty)
    }
  })

  it("counts reasoning and cached input beside the other tokens where the server does, as xAI [P1414]", () => {
    const counts = (usage: object) => {
      const replies = [
        ok(whole({ content: "x" }, {}, { usage })),
        ok(decodeStream([chunk({ content: "x" }), { choices: [], usage }, "[DONE]"]))
      ]
      return replies.map(({ usage }) => [usage.inputTokens, usage.outputTokens])
    }
    const usage = (prompt: number, completion: number, total: number, cached: number, reasoning: number) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning }
    })
    const both = (input: number, output: number) => [
      [input, output],
      [input, output]
    ]
    assert.deepStrictEqual(counts(usage(12, 2, 334, 2, 320)), both(12, 322))
    assert.deepStrictEqual(counts(usage(12, 322, 334, 2, 320)), both(12, 322))
    assert.deepStrictEqual(counts(usage(23, 110, 133, 190, 0)), both(213, 110))
    assert.deepStrictEqual(counts(usage(23, 110, 133, 23, 0)), both(23, 110))
  })

  it("reads usage from a last chunk without choices, from the choice, and the last of several", () => {
    const usage = (prompt: number) => ({ usage: { prompt_tokens: prompt, completion_tokens: 1 } })
    const start = [chunk({ content: "x" }), chunk({}, "stop")]
    const inputOf = (...events: ReadonlyArray<unknown>) =>
      ok(decodeStream([...start, ...events, "[DONE]"])).usage.inputTokens
    assert.strictEqual(inputOf({ choices: [], ...usage(7) }), 7)
    assert.strictEqual(inputOf({ choices: [{ index: 0, delta: {}, ...usage(8) }] }), 8)
    assert.strictEqual(inputOf({ choices: [], ...usage(1) }, { choices: [], ...usage(9) }), 9)
    assert.strictEqual(inputOf({ choices: [], ...usage(9) }, { choices: [], usage: null }), 9)
  })

  it("has the name of the model that answered, if the provider sends it", () => {
    assert.strictEqual(ok(whole({ content: "x" })).model, "m-1")
    assert.notProperty(ok(decode({ choices: [{ message: { content: "x" } }] })), "model")
  })
})

describe("text and reasoning", () => {
  it("reads a list of text parts as their text", () => {
    assert.strictEqual(Message.textOf(ok(whole({ content: [{ type: "text", text: "a" }, { text: "b" }, 5] }))), "ab")
  })

  it("keeps reasoning among the parts of the content, as Mistral has it, whole and streamed [P1414]", () => {
    const thinking = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }], closed: true })
    const expected: Message.Reply["content"] = [
      { type: "reasoning", text: "so, hm", opaque: { provider: "openai", data: "content" } },
      { type: "text", text: "4!" }
    ]
    assert.deepStrictEqual(ok(whole({ content: [thinking("so, hm"), { type: "text", text: "4!" }] })).content, expected)
    const pieces = [[thinking("so")], [thinking(", hm")], [{ type: "text", text: "4" }], "!"]
    const streamed = ok(decodeStream([...pieces.map((content) => chunk({ content })), "[DONE]"]))
    assert.deepStrictEqual(streamed.content, expected)
    const together = chunk({ content: [thinking("so, hm"), { type: "text", text: "4!" }] })
    assert.deepStrictEqual(ok(decodeStream([together, "[DONE]"])).content, expected)
  })

  it("has no part for an empty or absent text", () => {
    for (const content of ["", null, undefined]) assert.deepStrictEqual(ok(whole({ content })).content, [])
  })

  it("takes thoughts out of a text only if the dialect has them there, and has no empty text beside them", () => {
    const content = "<think>hm</think>"
    assert.deepStrictEqual(ok(whole({ content })).content, [Message.text(content)])
    assert.deepStrictEqual(ok(decodeStream([chunk({ content }), "[DONE]"])).content, [Message.text(content)])
    const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] })
    assert.deepStrictEqual(ok(OpenAiChat.make(source, {}, { thinkTags: true }).decode(answer(body))).content, [
      { type: "reasoning", text: "hm" }
    ])
  })

  it("keeps a reply of reasoning alone, or of a refusal alone", () => {
    const thinking = { reasoning_content: "hm" }
    const repeated = { choices: [{ index: 0, delta: {}, message: thinking, finish_reason: "length" }] }
    for (const end of [[], [repeated]]) {
      assert.deepStrictEqual(ok(decodeStream([chunk(thinking), ...end, "[DONE]"])).content, [
        { type: "reasoning", text: "hm", opaque: { provider: "openai", data: "reasoning_content" } }
      ])
    }
    failed(decodeStream([chunk({ refusal: "No." }), "[DONE]"]), LlmError.ContentFilteredError)
  })

  it("has the name of the model from the first piece that has it", () => {
    const { choices } = chunk({ content: "a" })
    const reply = ok(decodeStream([{ choices }, chunk({ content: "b" }), { choices }, " [DONE] "]))
    assert.strictEqual(reply.model, "m-1")
    assert.strictEqual(Message.textOf(reply), "aba")
  })

  for (const field of ["reasoning_content", "reasoning"]) {
    it(`keeps ${field} with the mark of its provider and its name, whole and streamed`, () => {
      const expected: Message.Reply["content"] = [
        { type: "reasoning", text: "so, hm", opaque: { provider: "openai", data: field } },
        { type: "text", text: "4!" }
      ]
      assert.deepStrictEqual(ok(whole({ [field]: "so, hm", content: "4!" })).content, expected)
      const events = [
        chunk({ [field]: "so" }),
        chunk({ [field]: ", hm" }),
        chunk({ content: "4" }),
        chunk({ content: "!" }),
        "[DONE]"
      ]
      assert.deepStrictEqual(ok(decodeStream(events)).content, expected)
    })
  }
})

it("a stream without any reply in it is an UnknownLlmError, also if it ends well [T8]", () => {
  failed(decodeStream(["[DONE]"]), LlmError.UnknownLlmError)
  failed(decodeStream([{ choices: [], usage: { prompt_tokens: 1 } }, "[DONE]"]), LlmError.UnknownLlmError)
})

describe("fields beside the message", () => {
  it("has its cost, as a number or as a sum of numbers, also of a key of one's own, whole and streamed [P1382]", () => {
    const costs = (usage: object) => [
      ok(whole({ content: "a" }, { finish_reason: "stop" }, { usage })).cost,
      ok(decodeStream([chunk({ content: "a" }), { ...chunk({}, "stop"), usage }])).cost
    ]
    assert.deepStrictEqual(costs({ cost: 0.5 }), [0.5, 0.5])
    assert.deepStrictEqual(costs({ cost: { total_cost: 0.25, request_cost: 0.2 } }), [0.25, 0.25])
    assert.deepStrictEqual(costs({ cost: "free" }), [undefined, undefined])
    const details = { cost_details: { upstream_inference_cost: 0.75 } }
    assert.deepStrictEqual(costs({ cost: 0.25, is_byok: true, ...details }), [1, 1])
    assert.deepStrictEqual(costs({ cost: 0.75, is_byok: false, ...details }), [0.75, 0.75])
    assert.deepStrictEqual(costs({ cost: 0, is_byok: true }), [undefined, undefined])
    assert.deepStrictEqual(costs({ cost_in_usd_ticks: 37_756_000 }), [0.0037756, 0.0037756])
    assert.deepStrictEqual(costs({ cost_in_usd_ticks: 0 }), [undefined, undefined])
    assert.isFalse("cost" in ok(whole({ content: "a" })))
  })

  it("an end by a filter, a failure or overload has our message", () => {
    const detailOf = (reason: string) => {
      const result = whole({ content: "a" }, { finish_reason: reason })
      return Result.isFailure(result) ? (result.failure.detail ?? "") : undefined
    }
    assert.include(detailOf("content_filter"), "a content filter cut the reply off")
    assert.include(detailOf("error"), "the model broke off")
    assert.include(detailOf("insufficient_system_resource"), "the answer was broken off by load")
  })
})
