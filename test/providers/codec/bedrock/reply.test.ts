/** What a reply of Converse is read as; recorded ones are played in `service/Bedrock.test.ts`. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Duration, Result } from "effect"
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

  it("is the same whole and streamed: thoughts, redacted ones, sources, tools of the server, and calls [P1414]", () => {
    const one = whole(
      [
        { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
        redacted,
        search,
        found,
        { citationsContent: { content: [{ text: "It rains." }], citations: [source] } },
        { toolUse: { toolUseId: "c", name: "look", input: { at: 1 } } }
      ],
      "tool_use"
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
      ...ending("tool_use")
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
    assert.deepInclude(one, { finish: "tool-calls", rawFinish: "tool_use" })
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

  it("has the tier, and the model that a router has chosen [P1414]", () => {
    const trace = { promptRouter: { invokedModelId: "arn:m" } }
    const facts = { serviceTier: { type: "flex" }, trace }
    const expected = { model: "arn:m", serviceTier: "flex" }
    assert.deepInclude(whole([{ text: "a" }], "end_turn", facts), expected)
    const stop = { messageStop: { stopReason: "end_turn" } }
    const reply = streamed([delta(0, { text: "a" }), stop, { metadata: { usage, ...facts } }])
    assert.deepInclude(reply, { ...expected, rawFinish: "end_turn" })
  })

  it("is not read from what is no reply [P1414]", () => {
    for (const body of [{}, [], null, { output: {} }]) assert(Result.isFailure(codec.decode(answer(body))))
    const decoder = codec.decoder(answer(""))
    assert(Result.isFailure(decoder.push("1")))
    assert(Result.isFailure(decoder.push("{")))
    assert(Result.isFailure(codec.decoder(answer("")).end()))
  })
})
