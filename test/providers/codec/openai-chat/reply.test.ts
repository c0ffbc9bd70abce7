import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { type Answer, OpenAiChat, type Source } from "@kintsugi/providers"
import { Duration, Result } from "effect"
import * as fc from "fast-check"
import { take } from "../../../_support/codec.ts"

const source: Source.Source = { provider: "openai", model: "gpt-x", secrets: [] }
const codec = OpenAiChat.make(source)

const answer = (body: string): Answer.Answer => ({ status: 200, headers: {}, body, at: 0, elapsed: Duration.zero })

const decode = (body: unknown) => codec.decode(answer(typeof body === "string" ? body : JSON.stringify(body)))

/** The reply that the events of a stream fold to. */
const decodeStream = (events: ReadonlyArray<unknown>): Result.Result<Message.Reply | undefined, LlmError.LlmError> => {
  const decoder = codec.decoder(answer(""))
  const collector = new Model.Collector()
  const data = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)))
  const steps = [...data.map((text) => () => decoder.push(text)), () => decoder.end()]
  for (const step of steps) {
    if (decoder.state() === "done") break
    const parts = step()
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    take(collector, parts.success)
  }
  return Result.succeed(collector.reply())
}

const whole = (message: object, fields: object = { finish_reason: "stop" }, top: object = {}) =>
  decode({ model: "m-1", choices: [{ index: 0, message: { role: "assistant", ...message }, ...fields }], ...top })

const chunk = (delta: object, finish: string | null = null) => ({
  model: "m-1",
  choices: [{ index: 0, delta, finish_reason: finish }]
})

const ok = (result: Result.Result<Message.Reply | undefined, LlmError.LlmError>): Message.Reply => {
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.message : "")
  assert(result.success !== undefined)
  return result.success
}

const failed = <E extends LlmError.LlmError>(
  result: Result.Result<unknown, LlmError.LlmError>,
  type: new (...args: Array<never>) => E
): E => {
  assert(Result.isFailure(result))
  assert(result.failure instanceof type, `${result.failure._tag}: ${result.failure.message}`)
  return result.failure
}

const wireCall = (id: string, name: string, args: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: args }
})

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
  it("reads the token counts, and zero for those that are not told", () => {
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
      { usage: { prompt_tokens: "7", completion_tokens: -1 } }
    ]) {
      assert.deepStrictEqual(ok(whole({ content: "x" }, {}, absent)).usage, Usage.empty)
    }
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

  it("says which model answered, where the provider says it", () => {
    assert.strictEqual(ok(whole({ content: "x" })).model, "m-1")
    assert.notProperty(ok(decode({ choices: [{ message: { content: "x" } }] })), "model")
  })
})

describe("calls", () => {
  const streamed = (...pieces: ReadonlyArray<object>) =>
    ok(decodeStream([...pieces.map((piece) => chunk({ tool_calls: [piece] })), chunk({}, "tool_calls"), "[DONE]"]))

  const raw = ['{"a":1}', '{"city": "Oslo", "unit": ', "", "nonsense", '{"a":1,}', "{}", '"text"', " "]
  for (const text of raw) {
    it(`gives the raw text ${JSON.stringify(text)} back unchanged, whole and streamed in any pieces [A114]`, () => {
      const expected: Message.Reply["content"] = [{ type: "tool-call", id: "c1", name: "f", arguments: text }]
      assert.deepStrictEqual(ok(whole({ tool_calls: [wireCall("c1", "f", text)] })).content, expected)
      const first = { index: 0, id: "c1", function: { name: "f", arguments: "" } }
      const pieces = Array.from(text, (character) => ({ index: 0, function: { arguments: character } }))
      assert.deepStrictEqual(streamed(first, ...pieces).content, expected)
      assert.deepStrictEqual(streamed({ index: 0, ...wireCall("c1", "f", text) }).content, expected)
    })
  }

  it("keeps absent arguments absent, and an object an object, whole and streamed [A114]", () => {
    for (const [args, expected] of [
      [undefined, null],
      [null, null],
      [{ a: 1 }, { a: 1 }]
    ] as const) {
      const content: Message.Reply["content"] = [{ type: "tool-call", id: "c1", name: "f", arguments: expected }]
      assert.deepStrictEqual(ok(whole({ tool_calls: [wireCall("c1", "f", args)] })).content, content)
      assert.deepStrictEqual(streamed({ index: 0, ...wireCall("c1", "f", args) }).content, content)
    }
  })

  it("keys the pieces of a stream by index, interleaved or not, and orders the calls by it", () => {
    const { content } = streamed(
      { index: 1, id: "b", function: { name: "g", arguments: "[" } },
      { index: 0, id: "a", function: { name: "f", arguments: "{" } },
      { index: 1, id: null, function: { name: null, arguments: "]" } },
      { index: 0, function: { arguments: "}" } }
    )
    assert.deepStrictEqual(content, [
      { type: "tool-call", id: "a", name: "f", arguments: "{}" },
      { type: "tool-call", id: "b", name: "g", arguments: "[]" }
    ])
  })

  it("tells calls without index apart by their ids", () => {
    const { content } = streamed(
      { id: "a", function: { name: "f", arguments: "{" } },
      { function: { arguments: "}" } },
      { id: "b", function: { name: "g", arguments: "[]" } }
    )
    assert.deepStrictEqual(
      Message.callsOf({ content, finish: "tool-calls", usage: Usage.empty }).map((call) => [call.id, call.arguments]),
      [
        ["a", "{}"],
        ["b", "[]"]
      ]
    )
  })

  it("gives a call without id one that is unique in its reply, and one without name an empty one", () => {
    const { content } = ok(whole({ tool_calls: [{ function: { name: "f" } }, {}, null] }))
    assert.deepStrictEqual(
      Message.callsOf({ content, finish: "stop", usage: Usage.empty }).map((call) => [
        call.id,
        call.name,
        call.arguments
      ]),
      [
        ["call_0", "f", null],
        ["call_1", "", null],
        ["call_2", "", null]
      ]
    )
  })

  it("hands no call over before the stream has ended well [P506]", () => {
    const decoder = codec.decoder(answer(""))
    const start = decoder.push(JSON.stringify(chunk({ tool_calls: [{ index: 0, ...wireCall("c", "f", "{}") }] })))
    assert.deepStrictEqual(start, Result.succeed([]))
    assert.strictEqual(decoder.state(), "open")
    assert.deepStrictEqual(decoder.push(JSON.stringify(chunk({}, "tool_calls"))), Result.succeed([]))
    assert.strictEqual(decoder.state(), "complete")
  })
})

describe("text and reasoning", () => {
  it("reads a list of text parts as their text", () => {
    assert.strictEqual(Message.textOf(ok(whole({ content: [{ type: "text", text: "a" }, { text: "b" }, 5] }))), "ab")
  })

  it("has no part for an empty or absent text", () => {
    for (const content of ["", null, undefined]) assert.deepStrictEqual(ok(whole({ content })).content, [])
  })

  it("takes thoughts out of a text only where they are said to stand in it, and has no empty text beside them", () => {
    const content = "<think>hm</think>"
    assert.deepStrictEqual(ok(whole({ content })).content, [Message.text(content)])
    assert.deepStrictEqual(ok(decodeStream([chunk({ content }), "[DONE]"])).content, [Message.text(content)])
    const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] })
    assert.deepStrictEqual(ok(OpenAiChat.make(source, {}, { thinkTags: true }).decode(answer(body))).content, [
      { type: "reasoning", text: "hm" }
    ])
  })

  it("has thoughts alone, and a refusal alone, where nothing else comes", () => {
    const thinking = { reasoning_content: "hm" }
    const repeated = { choices: [{ index: 0, delta: {}, message: thinking, finish_reason: "length" }] }
    for (const end of [[], [repeated]]) {
      assert.deepStrictEqual(ok(decodeStream([chunk(thinking), ...end, "[DONE]"])).content, [
        { type: "reasoning", text: "hm", opaque: { provider: "openai", data: "reasoning_content" } }
      ])
    }
    failed(decodeStream([chunk({ refusal: "No." }), "[DONE]"]), LlmError.ContentFilteredError)
  })

  it("has the name of the model from the first piece that tells it", () => {
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

describe("whatever comes", () => {
  const fragment = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        choices: fc.array(
          fc.record(
            {
              index: fc.jsonValue(),
              delta: fc.jsonValue(),
              message: fc.oneof(
                fc.jsonValue(),
                fc.record({ tool_calls: fc.array(fc.jsonValue()), content: fc.jsonValue() })
              ),
              finish_reason: fc.oneof(fc.jsonValue(), fc.constantFrom("stop", "length", "tool_calls"))
            },
            { requiredKeys: [] }
          )
        ),
        usage: fc.jsonValue(),
        error: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
        model: fc.jsonValue()
      },
      { requiredKeys: [] }
    )
  )
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fragment.map((value) => JSON.stringify(value))
  )

  it("any body is a reply or one LlmError, never a throw [T8]", () => {
    fc.assert(
      fc.property(text, (body) => {
        const result = decode(body)
        assert.isTrue(Result.isSuccess(result) || LlmError.isLlmError(result.failure))
      }),
      { numRuns: 300 }
    )
  })

  it("any events are parts or one LlmError, never a throw [T8]", () => {
    const events = fc.array(fc.oneof(text, fc.constant("[DONE]"), fc.constant(JSON.stringify(chunk({ content: "x" })))))
    fc.assert(
      fc.property(events, (data) => {
        const result = decodeStream(data)
        assert.isTrue(Result.isSuccess(result) || LlmError.isLlmError(result.failure))
      }),
      { numRuns: 300 }
    )
  })

  it("any reply says the same whole and streamed, however its texts are cut [A114]", () => {
    const reply = fc.record({
      content: fc.string(),
      calls: fc.array(
        fc.record({ id: fc.string({ minLength: 1 }), name: fc.string({ minLength: 1 }), args: fc.string() }),
        {
          maxLength: 3
        }
      ),
      size: fc.integer({ min: 1, max: 5 })
    })
    const cut = (value: string, size: number) => value.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
    fc.assert(
      fc.property(reply, ({ calls, content, size }) => {
        const wire = calls.map(({ args, id, name }) => wireCall(id, name, args))
        const events = [
          ...cut(content, size).map((piece) => chunk({ content: piece })),
          ...wire.flatMap(({ function: { arguments: args, name }, id }, index) => [
            chunk({ tool_calls: [{ index, id, function: { name, arguments: "" } }] }),
            ...cut(String(args), size).map((piece) =>
              chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
            )
          ]),
          chunk({}, "stop"),
          "[DONE]"
        ]
        assert.deepStrictEqual(ok(decodeStream(events)), ok(whole({ content, tool_calls: wire })))
      })
    )
  })
})

describe("the next piece of a text", () => {
  const dialect: OpenAiChat.Dialect = { sources: ["citations", "search_results"] }
  const decoderOf = () => {
    const decoder = OpenAiChat.make(source, {}, dialect).decoder(answer(""))
    const push = (event: unknown) => decoder.push(JSON.stringify(event))
    push(chunk({ content: "a" }))
    return { decoder, push }
  }
  const b = { content: "b" }
  /** A chunk with a piece of text, and something else at its top, in its choice or in its delta. */
  const withMore = (top: object, choice: object = {}, delta: object = {}) => ({
    ...chunk({}),
    choices: [{ ...chunk({}).choices[0], delta: { ...b, ...delta }, ...choice }],
    ...top
  })
  const said = { type: "text-delta", text: "b" } as const

  it("is all that a plain chunk says", () => {
    for (const event of [chunk(b), withMore({}, { index: null }), { model: "m-1", choices: [{ delta: b }] }]) {
      assert.deepStrictEqual(decoderOf().push(event), Result.succeed([said]))
    }
    assert.deepStrictEqual(decoderOf().push(chunk({ content: "" })), Result.succeed([]))
    assert.deepStrictEqual(decoderOf().push(chunk({ content: [{ type: "text", text: "b" }] })), Result.succeed([said]))
    const empty = [[], [null], [{}], [{ delta: null }], null]
    for (const nothing of [...empty.map((choices) => ({ choices })), {}]) {
      assert.deepStrictEqual(decoderOf().push({ model: "m-1", ...nothing }), Result.succeed([]))
    }
  })

  it("is not told by counts alone", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    assert.deepStrictEqual(decoderOf().push({ ...chunk({}), usage }), Result.succeed([]))
  })

  it("may be the last in no stream but one whose reply has ended, and by no event but its own [P504]", () => {
    const object = "chat.completion.done"
    const decoder = OpenAiChat.make(source, {}, { lastEvent: object }).decoder(answer(""))
    const states = [{ ...chunk({ content: "a" }), object }, { ...chunk({}), object }, chunk({}, "stop"), { object }]
    assert.deepStrictEqual(
      states.map((event) => {
        assert(Result.isSuccess(decoder.push(JSON.stringify(event))))
        return decoder.state()
      }),
      ["open", "open", "complete", "done"]
    )
  })

  it("hides no error and no refusal beside it", () => {
    const error = { message: "slow down", code: "rate_limit_exceeded" }
    for (const event of [withMore({ error }), withMore({}, { error }), withMore({ object: "error", ...error })]) {
      failed(decoderOf().push(event), LlmError.RateLimitError)
    }
    const { decoder, push } = decoderOf()
    push(withMore({}, {}, { refusal: "No." }))
    failed(decoder.end(), LlmError.ContentFilteredError)
  })

  it("hides no counts, sources, calls, thoughts or end beside it", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const counted = Usage.make({ inputTokens: 3, outputTokens: 2 })
    for (const event of [withMore({ usage }), withMore({}, { usage })]) {
      assert.deepStrictEqual(decoderOf().push(event), Result.succeed([said, { type: "usage", usage: counted }]))
    }
    /** The reply after these, of which the text is "ab" in any case. */
    const replyOf = (...events: ReadonlyArray<object>) => {
      const { decoder, push } = decoderOf()
      const collector = new Model.Collector()
      take(collector, [{ type: "text-delta", text: "a" }])
      for (const event of events) take(collector, Result.getOrThrow(push(event)))
      assert.strictEqual(decoder.state(), "complete")
      take(collector, Result.getOrThrow(decoder.end()))
      return ok(Result.succeed(collector.reply()))
    }
    const end = chunk({}, "stop")
    const contentOf = (event: object) => replyOf(event, end).content
    const ab = Message.text("ab")
    const item = (kind: string, data: Message.Opaque["data"]) => ({
      type: "provider-item" as const,
      kind,
      opaque: { provider: "openai", data }
    })
    assert.deepStrictEqual(contentOf(withMore({})), [ab])
    for (const name of ["citations", "search_results"]) {
      const content = contentOf(withMore({ [name]: ["https://example.org"] }))
      assert.deepStrictEqual(content[0], ab)
      assert.include(JSON.stringify(content.slice(1)), "https://example.org")
    }
    const call = { type: "tool-call", id: "c1", name: "f", arguments: "{}" } as const
    assert.deepStrictEqual(contentOf(withMore({}, {}, { tool_calls: [{ index: 0, ...wireCall("c1", "f", "{}") }] })), [
      ab,
      call
    ])
    const old = contentOf(withMore({}, {}, { function_call: { name: "f", arguments: "{}" } }))
    assert.deepInclude(old[1], { type: "tool-call", name: "f", arguments: "{}" })
    for (const name of ["reasoning_content", "reasoning"]) {
      const content = contentOf(withMore({}, {}, { [name]: "hm" }))
      assert.include(JSON.stringify(content), '"text":"hm"', name)
    }
    const details = [{ type: "reasoning.text", text: "hm", index: 0 }]
    assert.deepStrictEqual(contentOf(withMore({}, {}, { reasoning_details: details })).at(-1), {
      ...item("reasoning_details", details)
    })
    assert.strictEqual(replyOf(withMore({}, { finish_reason: "length" })).finish, "length")
    const unnamed = { choices: end.choices }
    assert.strictEqual(replyOf({ ...withMore({}), model: "m-2" }, unnamed).model, "m-2")
  })

  it("of another choice is none of this one's", () => {
    const { push } = decoderOf()
    assert.deepStrictEqual(push(withMore({}, { index: 1 })), Result.succeed([]))
  })
})

describe("what a reply says beside its message", () => {
  it("tells what it cost, as a number or as a sum of numbers, whole and streamed", () => {
    const told = (usage: object) => [
      ok(whole({ content: "a" }, { finish_reason: "stop" }, { usage })).cost,
      ok(decodeStream([chunk({ content: "a" }), { ...chunk({}, "stop"), usage }])).cost
    ]
    assert.deepStrictEqual(told({ cost: 0.5 }), [0.5, 0.5])
    assert.deepStrictEqual(told({ cost: { total_cost: 0.25, request_cost: 0.2 } }), [0.25, 0.25])
    assert.deepStrictEqual(told({ cost: "free" }), [undefined, undefined])
    assert.isFalse("cost" in ok(whole({ content: "a" })))
  })

  it("the end that a filter, a failure or load makes is told in our words", () => {
    const detailOf = (reason: string) => {
      const result = whole({ content: "a" }, { finish_reason: reason })
      return Result.isFailure(result) ? (result.failure.detail ?? "") : undefined
    }
    assert.include(detailOf("content_filter"), "a content filter cut the reply off")
    assert.include(detailOf("error"), "the model broke off")
    assert.include(detailOf("insufficient_system_resource"), "the answer was broken off by load")
  })
})

describe("calls that careless servers cut into pieces", () => {
  const piece = (id: string | undefined, name: string | undefined, args: unknown, index?: number) => ({
    ...(id === undefined ? {} : { id }),
    ...(index === undefined ? {} : { index }),
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) }
  })
  const callsOf = (...pieces: ReadonlyArray<object>) =>
    Message.callsOf(
      ok(decodeStream([...pieces.map((one) => chunk({ tool_calls: [one] })), chunk({}, "tool_calls")]))
    ).map(({ arguments: args, id, name }) => [id, name, args])

  it("belong to the call of their id or index, else to the last one, unless a name begins another", () => {
    assert.deepStrictEqual(callsOf(piece("a", "f", "{"), piece("b", "g", "{"), piece("a", undefined, "}")), [
      ["a", "f", "{}"],
      ["b", "g", "{"]
    ])
    assert.deepStrictEqual(callsOf(piece("a", "f", "{}"), piece("a", "f", "{}")), [
      ["a", "f", "{}"],
      ["a_1", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{"), piece(undefined, undefined, "}")), [
      ["call_0", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{"), piece(undefined, "f", "}")), [["call_0", "f", "{}"]])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{}"), piece(undefined, "f", "{}")), [
      ["call_0", "f", "{}"],
      ["call_1", "f", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece(undefined, "f", "{"), piece(undefined, "g", "{}")), [
      ["call_0", "f", "{"],
      ["call_1", "g", "{}"]
    ])
    assert.deepStrictEqual(callsOf(piece("a", "f", "{}", 0), piece(undefined, "f", " ", 0)), [["a", "f", "{} "]])
    assert.deepStrictEqual(
      callsOf(piece("a", "f", "{", 0), piece("b", "g", "{", 0), piece(undefined, undefined, "}", 0)),
      [
        ["a", "f", "{"],
        ["b", "g", "{}"]
      ]
    )
  })

  it("keep their order by index, told or counted on", () => {
    assert.deepStrictEqual(
      callsOf(piece("a", "f", "{}", 5), piece("b", "g", "{}", 2), piece("c", "h", "{}")).map(([id]) => id),
      ["b", "a", "c"]
    )
  })

  it("take arguments in text or as an object, and what is null for nothing", () => {
    assert.deepStrictEqual(
      callsOf(
        piece("a", "f", null),
        piece("a", undefined, "{"),
        piece("a", undefined, null),
        piece("a", undefined, "}")
      ),
      [["a", "f", "{}"]]
    )
    assert.deepStrictEqual(callsOf(piece("a", "f", { q: 1 })), [["a", "f", { q: 1 }]])
    assert.deepStrictEqual(callsOf(piece("a", "f", undefined)), [["a", "f", null]])
  })
})
