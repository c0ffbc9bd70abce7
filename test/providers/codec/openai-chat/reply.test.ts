import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Result } from "effect"
import { answer, chunk, decodeStream, ok, source, whole, wireCall } from "./_support/replies.ts"

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
})

/** A message with fields beside it and at its top, as a whole reply and as the only chunk of a stream. */
const both = (message: object, fields: object = { finish_reason: "stop" }, top: object = {}) => {
  const event = { model: "m-1", choices: [{ index: 0, delta: message, ...fields }], ...top }
  return [whole(message, fields, top), decodeStream([event, "[DONE]"])]
}

describe("errors within a success", () => {
  const x = { content: "x" }
  const limited = { error: { type: "rate_limit_error", message: "slow down" } }
  const noReply = { choices: [], usage: { prompt_tokens: 1 } }

  type Row = readonly [
    replies: ReadonlyArray<ReturnType<typeof decodeStream>>,
    tag: LlmError.LlmError["_tag"],
    detail?: string
  ]
  const rows: Readonly<Record<string, Row>> = {
    "a refusal, though the reason is stop": [
      both({ content: null, refusal: "I can't." }),
      "ContentFilteredError",
      "I can't."
    ],
    "a refusal in pieces": [
      [decodeStream([chunk({ refusal: "I " }), chunk({ refusal: "can't." }), chunk({}, "stop"), "[DONE]"])],
      "ContentFilteredError",
      "I can't."
    ],
    "a refusal alone": [[decodeStream([chunk({ refusal: "No." }), "[DONE]"])], "ContentFilteredError", "No."],
    "a content filter": [
      both(x, { finish_reason: "content_filter" }),
      "ContentFilteredError",
      "a content filter cut the reply off"
    ],
    "an error as the reason": [both(x, { finish_reason: "error" }), "ServerError", "the model broke off the reply"],
    "too much load": [
      both(x, { finish_reason: "insufficient_system_resource" }),
      "ModelOverloadedError",
      "the answer was broken off by load"
    ],
    "an error with a status": [
      both(x, {}, { error: { code: 502, message: "Provider failed" } }),
      "ServerError",
      "Provider failed"
    ],
    "an error with a code": [both(x, {}, { error: { code: "insufficient_quota" } }), "QuotaExhaustedError"],
    "an error as a text": [
      both(x, {}, { error: "model is overloaded" }),
      "ModelOverloadedError",
      "model is overloaded"
    ],
    "an error in a choice": [both(x, limited), "RateLimitError", "slow down"],
    "an error event, first, after a text, or after the end of a reply": [
      [[limited], [chunk(x), limited], [chunk(x, "length"), { ...chunk({}), ...limited }, "[DONE]"]].map(decodeStream),
      "RateLimitError",
      "slow down"
    ],
    "a stream without any reply, though it ends well": [
      [["[DONE]"], [noReply, "[DONE]"]].map(decodeStream),
      "UnknownLlmError"
    ]
  }
  for (const [what, [replies, tag, detail]] of Object.entries(rows)) {
    it(`fail with what they name, in the words of the server [T8]: ${what}`, () => {
      for (const result of replies) {
        assert(Result.isFailure(result))
        assert.deepStrictEqual([result.failure._tag, result.failure.detail], [tag, detail])
      }
    })
  }

  it("are none where the error or the refusal is absent, however it is", () => {
    for (const fields of [{ error: null }, { error: false }, { error: "" }]) {
      for (const refusal of [null, ""]) {
        for (const result of both({ ...x, refusal }, {}, fields)) {
          assert.deepStrictEqual(ok(result).content, [Message.text("x")])
        }
      }
    }
  })
})

describe("usage", () => {
  it("is read from the top or the choice of the last chunk that has it, and absent counts are zero", () => {
    const full = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 }
    }
    const read = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 }
    const streamed = (...last: ReadonlyArray<object>) =>
      decodeStream([chunk({ content: "x" }), chunk({}, "stop"), ...last, "[DONE]"])
    const of = (usage: unknown) => [
      ...both({ content: "x" }, {}, { usage }),
      ...both({ content: "x" }, { usage }),
      streamed({ choices: [], usage }),
      streamed({ choices: [{ index: 0, delta: {}, usage }] })
    ]
    const several = [
      streamed({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }, { choices: [], usage: full }),
      streamed({ choices: [], usage: full }, { choices: [], usage: null })
    ]
    for (const result of [...of(full), ...several]) assert.deepStrictEqual(ok(result).usage, read)
    for (const usage of [{}, null, { prompt_tokens: "7", completion_tokens: null }]) {
      for (const result of of(usage)) assert.deepStrictEqual(ok(result).usage, Usage.empty)
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
})

describe("text and reasoning", () => {
  const thought = (data: string, text: string) => ({
    type: "reasoning",
    text,
    opaque: { provider: "openai", data }
  })
  const thinking = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }], closed: true })
  const spoken = ["reasoning_content", "reasoning"].flatMap((field) => {
    const pieces = [{ [field]: "so" }, { [field]: ", hm" }, { content: "4" }, { content: "!" }]
    const alone = thought(field, "so, hm")
    return [
      [`${field}, with its provider and name`, { [field]: "so, hm", content: "4!" }, pieces, alone, Message.text("4!")],
      [`${field} alone`, { [field]: "so, hm" }, pieces.slice(0, 2), alone]
    ] as const
  })
  type Row = readonly [what: string, message: object, pieces: ReadonlyArray<object>, ...content: ReadonlyArray<unknown>]
  const rows: ReadonlyArray<Row> = [
    ["a list of texts", { content: [{ type: "text", text: "a" }, { text: "b" }, 5] }, [], Message.text("ab")],
    ["an empty text", { content: "" }, []],
    ["no text", { content: null }, []],
    ...spoken,
    [
      "reasoning among the parts, as Mistral has it",
      { content: [thinking("so, hm"), { type: "text", text: "4!" }] },
      [[thinking("so")], [thinking(", hm")], [{ type: "text", text: "4" }], "!"].map((content) => ({ content })),
      thought("content", "so, hm"),
      Message.text("4!")
    ]
  ]
  for (const [what, message, pieces, ...content] of rows) {
    it(`are read whole and streamed, in any pieces [A114 P1414]: ${what}`, () => {
      const repeated = { choices: [{ index: 0, delta: {}, message, finish_reason: "stop" }] }
      for (const result of [
        ...both(message),
        decodeStream([...pieces.map((piece) => chunk(piece)), repeated, "[DONE]"])
      ]) {
        assert.deepStrictEqual<unknown>(ok(result).content, content)
      }
    })
  }

  it("takes thoughts out of a text only if the dialect has them there, and has no empty text beside them", () => {
    const content = "<think>hm</think>"
    assert.deepStrictEqual(ok(whole({ content })).content, [Message.text(content)])
    assert.deepStrictEqual(ok(decodeStream([chunk({ content }), "[DONE]"])).content, [Message.text(content)])
    const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] })
    assert.deepStrictEqual(ok(OpenAiChat.make(source, {}, { thinkTags: true }).decode(answer(body))).content, [
      { type: "reasoning", text: "hm" }
    ])
  })
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
})
