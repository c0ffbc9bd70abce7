/** What replies of the AI SDK hold beside texts and calls: what is kept, and goes back as it came, and what is refused. */
import { assert, describe } from "@effect/vitest"
import { LlmError, Message, Model } from "@kintsugi/core"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/languageModel.ts"

const { plainRequest, failures, replies, says, scripted, versions } = Script

const signed = { anthropic: { signature: "s1" } }
const sealed = { google: { thoughtSignature: "t1", other: 1 } }
const png = "iVBORw0KGgo="

/** A part of a reply, and how it goes back with the next request; `undefined` if it does not. */
interface Row {
  readonly name: string
  readonly part: Script.Content
  readonly back: object | undefined
  readonly since?: "v3" | "v4"
}

const rows: ReadonlyArray<Row> = [
  {
    name: "a thought with its signature",
    part: { type: "reasoning", text: "hmm", providerMetadata: signed },
    back: { type: "reasoning", text: "hmm", providerOptions: signed }
  },
  {
    name: "a thought without words",
    part: { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "r" } } },
    back: { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "r" } } }
  },
  {
    name: "a text with the signature of a thought",
    part: { type: "text", text: "hello", providerMetadata: sealed },
    back: { type: "text", text: "hello", providerOptions: sealed }
  },
  {
    name: "a call that the provider has run",
    part: {
      type: "tool-call",
      toolCallId: "p1",
      toolName: "web_search",
      input: '{"q":"x"}',
      providerExecuted: true,
      providerMetadata: { openai: { itemId: "i1" } }
    },
    back: {
      type: "tool-call",
      toolCallId: "p1",
      toolName: "web_search",
      input: { q: "x" },
      providerExecuted: true,
      providerOptions: { openai: { itemId: "i1" } }
    }
  },
  {
    name: "the result of such a call",
    part: {
      type: "tool-result",
      toolCallId: "p1",
      toolName: "web_search",
      result: { found: 3 },
      providerExecuted: true
    },
    back: {
      type: "tool-result",
      toolCallId: "p1",
      toolName: "web_search",
      output: { type: "json", value: { found: 3 } }
    }
  },
  {
    name: "its failure",
    part: { type: "tool-result", toolCallId: "p1", toolName: "web_search", result: "no", isError: true },
    back: { type: "tool-result", toolCallId: "p1", toolName: "web_search", output: { type: "error-json", value: "no" } }
  },
  {
    name: "a result that another one replaces",
    part: { type: "tool-result", toolCallId: "p1", toolName: "draw", result: "half", preliminary: true },
    back: undefined,
    since: "v3"
  },
  {
    name: "a source",
    part: { type: "source", sourceType: "url", id: "s1", url: "https://a.example/", title: "A" },
    back: undefined
  },
  {
    name: "a part of a later version",
    part: { type: "hologram", beam: 1 },
    back: undefined
  },
  {
    name: "what a provider alone knows",
    part: { type: "custom", kind: "openai.compaction", providerMetadata: { openai: { encrypted: "e" } } },
    back: { type: "custom", kind: "openai.compaction", providerOptions: { openai: { encrypted: "e" } } },
    since: "v4"
  },
  {
    name: "a file of a thought",
    part: { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: png } },
    back: { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: png } },
    since: "v4"
  }
]

describe.each(versions)("a reply of version %s", (version) => {
  for (const { back, name, part } of rows.filter(({ since = "v2" }) => since <= version)) {
    it.effect(
      `keeps ${name}${back === undefined ? ", and does not send it back" : ", and sends it back"} [P1381]`,
      () =>
        Effect.gen(function* () {
          const reply = { content: [part, { type: "text", text: "end" }] }
          const { called, model } = scripted(version, [reply, reply, says("done")])
          const layer = AiSdkModel.layer(model)
          const { content } = yield* replies(layer)
          yield* nextTurn(layer, content)
          const [, assistant] = called[2]?.prompt ?? []
          const parts = assistant?.content
          assert(Array.isArray(parts))
          assert.deepStrictEqual(parts.slice(0, parts.length - 1), back === undefined ? [] : [back])
          assert.deepStrictEqual(parts.slice(-1), [{ type: "text", text: "end" }])
        })
    )
  }

  it.effect("keeps a file as bytes, whichever way they are given, and sends it back [P1381]", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from(png, "base64")
      const given = version === "v4" ? { type: "data", data: bytes } : bytes
      const reply = { content: [{ type: "file", mediaType: "image/png", data: given }] }
      const { called, model } = scripted(version, [reply, reply, says("done")])
      const layer = AiSdkModel.layer(model)
      const { content } = yield* replies(layer)
      yield* nextTurn(layer, content)
      const data = version === "v4" ? { type: "data", data: png } : png
      assert.deepStrictEqual(called[2]?.prompt[1]?.content, [{ type: "file", mediaType: "image/png", data }])
    })
  )

  it.effect("of another provider or model keeps its thoughts to itself [P1381]", () =>
    Effect.gen(function* () {
      const thought = { type: "reasoning", text: "hmm", providerMetadata: signed }
      const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}", providerMetadata: sealed }
      const reply = { content: [thought, { ...call }, { type: "text", text: "end" }] }
      const { model } = scripted(version, [reply, reply], { modelId: "claude-fable-5.1" })
      const { content } = yield* replies(AiSdkModel.layer(model))
      for (const options of [{ provider: "other.chat" }, { modelId: "gpt-5.6-sol" }]) {
        const { called, model: other } = scripted(version, [says("done")], options)
        yield* nextTurn(AiSdkModel.layer(other), content)
        const sent = JSON.stringify(called[0]?.prompt)
        assert.notInclude(sent, "s1")
        assert.notInclude(sent, "t1")
        assert.include(sent, "look")
      }
      const { called, model: same } = scripted(version, [says("done")], { modelId: "claude-fable-5.1" })
      yield* nextTurn(AiSdkModel.layer(same), content)
      const sent = JSON.stringify(called[0]?.prompt)
      assert.include(sent, "s1")
      assert.include(sent, "t1")
    })
  )

  it.effect("that waits for an approval of the provider's tool is refused, and says so [P1381]", () =>
    Effect.gen(function* () {
      const reply = { content: [{ type: "tool-approval-request", approvalId: "a1", toolCallId: "p1" }] }
      const { model } = scripted(version, [reply, reply])
      const failure = yield* failures(AiSdkModel.layer(model))
      assert(failure instanceof LlmError.CapabilityMismatchError)
      assert.include(failure.message, "waits for an answer to 'tool-approval-request'")
    })
  )
})

/** The next turn: the reply is in the transcript, its calls are settled. */
const nextTurn = (layer: ReturnType<typeof AiSdkModel.layer>, content: Message.Reply["content"]) =>
  Effect.flatMap(Model.Model, ({ generate }) => {
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    const before = Message.settle({ content, finish: "stop", usage }, [{ kind: "result", text: "seen" }])
    return generate({ ...plainRequest, messages: [...plainRequest.messages, before, Message.user("and?")] })
  }).pipe(Effect.provide(layer))

describe("usage of version 2", () => {
  it.effect("has what was read from and written to the cache of Anthropic [P1381]", () =>
    Effect.gen(function* () {
      const reply: Script.Reply = {
        ...says("x"),
        usage: [10, 90, 5, 0],
        providerMetadata: { anthropic: { cacheCreationInputTokens: 7 } }
      }
      const { model } = scripted("v2", [reply, reply])
      const { usage } = yield* replies(AiSdkModel.layer(model))
      assert.deepInclude(usage, { inputTokens: 107, cachedInputTokens: 90, cacheWriteTokens: 7 })
    })
  )
})
