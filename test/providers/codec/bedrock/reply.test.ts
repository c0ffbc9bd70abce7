/** What a reply of Converse is read as; recorded ones are played in `service/Bedrock.test.ts`. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { ContentFilteredError } from "@kintsugi/core/LlmError"
import { Duration, Result, type Schema } from "effect"
import * as BedrockConverse from "../../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"

const codec = BedrockConverse.make({ provider: "bedrock", model: "m", secrets: [] })

const answer = (body: unknown) => ({
  status: 200,
  headers: {},
  body: JSON.stringify(body),
  at: 0,
  elapsed: Duration.zero
})

const usage = { inputTokens: 3, outputTokens: 2, cacheReadInputTokens: 5, cacheWriteInputTokens: 7 }

const whole = (content: ReadonlyArray<object>, stopReason = "end_turn", more: object = {}) => {
  const decoded = codec.decode(answer({ output: { message: { content } }, stopReason, usage, ...more }))
  assert(Result.isSuccess(decoded), String(decoded))
  return decoded.success
}

const streamed = (events: ReadonlyArray<object>) => {
  const decoder = codec.decoder(answer(""))
  const collector = new Model.Collector()
  for (const event of events) {
    const parts = decoder.push(JSON.stringify(event))
    assert(Result.isSuccess(parts), String(parts))
    for (const part of parts.success) collector.push(part)
  }
  assert.strictEqual(decoder.state(), "done")
  const reply = collector.reply()
  assert(reply !== undefined)
  return reply
}

const delta = (contentBlockIndex: number, delta: object) => ({ contentBlockDelta: { contentBlockIndex, delta } })
const ending = (stopReason: string) => [{ messageStop: { stopReason } }, { metadata: { usage } }]

const item = (kind: string, data: unknown) => ({ type: "provider-item", kind, opaque: { provider: "bedrock", data } })

describe("a reply of Converse", () => {
  const source = { title: "t", location: { web: { url: "https://a.test/" } } }
  const search = { toolUse: { toolUseId: "s", name: "grounding", type: "server_tool_use", input: { q: 1 } } }
  const found = { toolResult: { toolUseId: "s", content: [{ json: { hits: 1 } }] } }
  const redacted = { reasoningContent: { redactedContent: "eHl6" } }
  const call = { type: "tool-call", id: "c", name: "look", arguments: { at: 1 } }

  it("is the same whole and streamed: thoughts, redacted ones, sources, tools of the server, calls, its tier and its routed model [P1414]", () => {
    const facts = { serviceTier: { type: "flex" }, trace: { promptRouter: { invokedModelId: "arn:m" } } }
    const one = whole(
      [
        { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
        redacted,
        search,
        found,
        { citationsContent: { content: [{ text: "It rains." }], citations: [source] } },
        { toolUse: { toolUseId: "c", name: "look", input: { at: 1 } } }
      ],
      "tool_use",
      facts
    )
    const other = streamed([
      { messageStart: { role: "assistant" } },
      delta(0, { reasoningContent: { text: "hm" } }),
      delta(0, { reasoningContent: { signature: "si" } }),
      delta(0, { reasoningContent: { signature: "g" } }),
      { contentBlockStop: { contentBlockIndex: 0 } },
      delta(1, { reasoningContent: { redactedContent: "eHl6" } }),
      { contentBlockStop: { contentBlockIndex: 1 } },
      {
        contentBlockStart: {
          contentBlockIndex: 2,
          start: { toolUse: { toolUseId: "s", name: "grounding", type: "server_tool_use" } }
        }
      },
      delta(2, { toolUse: { input: '{"q":1}' } }),
      { contentBlockStop: { contentBlockIndex: 2 } },
      { contentBlockStart: { contentBlockIndex: 3, start: { toolResult: { toolUseId: "s" } } } },
      delta(3, { toolResult: [{ json: { hits: 1 } }] }),
      { contentBlockStop: { contentBlockIndex: 3 } },
      delta(4, { text: "It " }),
      delta(4, { text: "rains." }),
      delta(4, { citation: source }),
      { contentBlockStop: { contentBlockIndex: 4 } },
      { contentBlockStart: { contentBlockIndex: 5, start: { toolUse: { toolUseId: "c", name: "look" } } } },
      delta(5, { toolUse: { input: '{"at"' } }),
      delta(5, { toolUse: { input: ":1}" } }),
      { contentBlockStop: { contentBlockIndex: 5 } },
      { messageStop: { stopReason: "tool_use" } },
      { metadata: { usage, ...facts } }
    ])
    assert.deepStrictEqual<unknown>(one.content, [
      { type: "reasoning", text: "hm", opaque: { provider: "bedrock", data: "sig" } },
      item("redacted_thinking", redacted),
      item("server_tool_use", search),
      item("toolResult", found),
      Message.text("It rains."),
      item("citations", [source]),
      call
    ])
    assert.deepStrictEqual(other, one)
    assert.deepInclude(one, { finish: "tool-calls", rawFinish: "tool_use", model: "arn:m", serviceTier: "flex" })
    assert.deepStrictEqual(one.usage, {
      inputTokens: 15,
      outputTokens: 2,
      cachedInputTokens: 5,
      cacheWriteTokens: 7,
      reasoningTokens: 0
    })
  })

  it("is cut off if a call has no end, and its arguments are the text so far [P1414]", () => {
    const reply = streamed([
      { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "c", name: "look" } } } },
      delta(0, { toolUse: { input: '{"at":' } }),
      ...ending("tool_use")
    ])
    assert.strictEqual(reply.finish, "length")
    assert.deepStrictEqual<unknown>(reply.content, [{ ...call, arguments: '{"at":' }])
  })

  for (const [reason, finish] of [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["something_new", "other"]
  ] as const) {
    it(`ends with ${finish} for ${reason} [P1414]`, () => {
      assert.deepInclude(whole([{ text: "a" }], reason), { finish, rawFinish: reason })
      assert.deepInclude(streamed([delta(0, { text: "a" }), ...ending(reason)]), { finish, rawFinish: reason })
    })
  }

  it("has nothing for an empty block or text, and gives a call without id or name its own [P1414]", () => {
    const thought = { reasoningContent: { reasoningText: { text: "", signature: "sig" } } }
    const { content } = whole([{}, { text: "" }, { text: 1 }, thought, { text: "a" }, { toolUse: {} }], "tool_use")
    assert.deepStrictEqual<unknown>(content, [
      { type: "reasoning", text: "", opaque: { provider: "bedrock", data: "sig" } },
      Message.text("a"),
      { type: "tool-call", id: "call_5", name: "", arguments: null }
    ])
  })

  it("is not read from what is no reply [P1414]", () => {
    for (const body of [{}, [], null, { output: {} }]) assert(Result.isFailure(codec.decode(answer(body))))
    for (const [event, words] of [
      ["1", "an event is not an object"],
      ["{", "it is not JSON"]
    ] as const) {
      const pushed = codec.decoder(answer("")).push(event)
      assert.include(Result.isFailure(pushed) ? pushed.failure.message : "", words)
    }
    const ended = codec.decoder(answer("")).end()
    assert.include(Result.isFailure(ended) ? ended.failure.message : "", "the stream holds no reply")
  })
})

describe("the events of a stream", () => {
  /** The parts of each event, with the state and the bytes that are held after it. */
  const steps = (...events: ReadonlyArray<object>) => {
    const decoder = codec.decoder(answer(""))
    return events.map((event) => {
      const pushed = decoder.push(JSON.stringify(event))
      assert(Result.isSuccess(pushed), String(pushed))
      return [pushed.success, decoder.state(), decoder.held?.()]
    })
  }
  const stop = { messageStop: { stopReason: "end_turn" } }
  const counted = { inputTokens: 15, outputTokens: 2, cachedInputTokens: 5, cacheWriteTokens: 7, reasoningTokens: 0 }
  const finish = (usage: object) => ({ type: "finish", finish: "stop", usage, rawFinish: "end_turn" })

  it("end with the usage behind the end of the message, or with the end behind the usage [P1414]", () => {
    assert.deepStrictEqual<unknown>(steps(delta(0, { text: "a" }), stop, { metadata: { usage } }), [
      [[{ type: "text-delta", text: "a" }], "open", 0],
      [[], "complete", 0],
      [[finish(counted)], "done", 0]
    ])
    assert.deepStrictEqual<unknown>(steps({ metadata: { usage } }, delta(0, { text: "" }), stop), [
      [[{ type: "usage", usage: counted }], "open", 0],
      [[], "open", 0],
      [[finish(counted)], "done", 0]
    ])
  })

  it("end without usage where none comes [P1414]", () => {
    const decoder = codec.decoder(answer(""))
    const pushed = [delta(0, { text: "a" }), stop, { metadata: {} }].map((event) => decoder.push(JSON.stringify(event)))
    assert.deepStrictEqual<unknown>(pushed, [
      Result.succeed([{ type: "text-delta", text: "a" }]),
      Result.succeed([]),
      Result.succeed([])
    ])
    assert.strictEqual(decoder.state(), "complete")
    const none = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    assert.deepStrictEqual<unknown>(decoder.end(), Result.succeed([finish(none)]))
  })

  it("are held while their block is unfinished [P1414]", () => {
    const opened = (contentBlockIndex: number, start: object) => ({ contentBlockStart: { contentBlockIndex, start } })
    const closed = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })
    const held = (...events: ReadonlyArray<object>) => steps(...events).map(([, , bytes]) => bytes)
    assert.deepStrictEqual(
      held(
        opened(0, { toolUse: { toolUseId: "c" } }),
        delta(0, { toolUse: { input: '{"a":' } }),
        delta(0, { toolUse: { input: "1}" } }),
        delta(1, { reasoningContent: { signature: "äb" } }),
        delta(1, { reasoningContent: { redactedContent: "xyz" } }),
        delta(2, { citation: { title: "t" } }),
        delta(3, { toolResult: [{ text: "abc" }] }),
        delta(3, { text: "abc" }),
        closed(0),
        closed(1),
        closed(2),
        closed(3)
      ),
      [17, 22, 24, 27, 30, 36, 43, 43, 43, 43, 43, 0]
    )
  })

  it("are a thought by its signature alone, and a thought without one has none [P1414]", () => {
    const thought = (data: string | null, text = "") => ({
      type: "reasoning",
      text,
      opaque: { provider: "bedrock", data }
    })
    const of = (...pieces: ReadonlyArray<object>) =>
      streamed([...pieces.map((piece) => delta(0, { reasoningContent: piece })), ...ending("end_turn")]).content
    assert.deepStrictEqual<unknown>(of({ signature: "sig" }), [thought("sig")])
    assert.deepStrictEqual<unknown>(of({ text: "hm" }), [thought(null, "hm")])
    assert.deepStrictEqual<unknown>(of({ text: "hm" }, { signature: "" }), [thought(null, "hm")])
    assert.deepStrictEqual<unknown>(of({ redactedContent: "eHl6" }), [
      item("redacted_thinking", { reasoningContent: { redactedContent: "eHl6" } })
    ])
  })

  it("make up arguments that are an object, no object without pieces, and else the text of the model [P404]", () => {
    const argumentsOf = (...inputs: ReadonlyArray<string>): unknown => {
      const start = { toolUse: { toolUseId: "c", name: "look" } }
      const [call] = streamed([
        { contentBlockStart: { contentBlockIndex: 0, start } },
        ...inputs.map((input) => delta(0, { toolUse: { input } })),
        { contentBlockStop: { contentBlockIndex: 0 } },
        ...ending("tool_use")
      ]).content
      return call !== undefined && "arguments" in call ? call.arguments : undefined
    }
    assert.deepStrictEqual(argumentsOf(), {})
    assert.deepStrictEqual(argumentsOf(" ", "\n"), {})
    assert.deepStrictEqual(argumentsOf('{"a"', ":1}"), { a: 1 })
    assert.deepStrictEqual(argumentsOf("[1]"), "[1]")
    assert.deepStrictEqual(argumentsOf("1"), "1")
    assert.deepStrictEqual(argumentsOf('{"a"'), '{"a"')
  })
})

describe("an error within a success", () => {
  const errorOf = (body: Schema.Json) => {
    const read = codec.decode(answer(body))
    const pushed = codec.decoder(answer("")).push(JSON.stringify(body))
    assert(Result.isFailure(read) && Result.isFailure(pushed))
    assert.strictEqual(pushed.failure._tag, read.failure._tag)
    return read.failure
  }

  it("is the reply of a guardrail, in its words [P1414]", () => {
    const stopped = (...content: ReadonlyArray<Schema.Json>) =>
      errorOf({ output: { message: { content } }, stopReason: "guardrail_intervened" })
    const error = stopped({ text: "Not" }, { image: {} }, { text: "this." })
    assert(error instanceof ContentFilteredError)
    assert.strictEqual(error.detail, "Not\nthis.")
    assert.strictEqual(stopped().detail, "the reply ended with guardrail_intervened")
  })

  it("has the status of its exception, or the one that it states [P1414]", () => {
    const statusOf = (event: Schema.Json) => errorOf(event).status
    assert.strictEqual(statusOf({ throttlingException: { message: "slow" } }), 429)
    assert.strictEqual(statusOf({ ThrottlingException: { message: "slow" } }), 429)
    assert.strictEqual(statusOf({ modelNotReadyException: { message: "no", status: 503 } }), 503)
    assert.strictEqual(statusOf({ throttlingException: { message: "slow", status: 503 } }), 429)
    assert.strictEqual(statusOf({ modelNotReadyException: null }), 200)
  })
})
