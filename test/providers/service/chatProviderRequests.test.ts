/** What every provider is sent, then DeepSeek, Kimi and OpenAI: where, with which headers, and the exact body. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { DeepSeek, Kimi, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import { ConfigProvider, Effect, Exit, Layer, Stream } from "effect"
import { failsWith, fakeNetwork, key, respondWith, body, textChunk, finishChunk, done } from "../../_support/network.ts"
import {
  exchangeWith,
  bodyOf,
  chosen,
  image,
  messagesOf,
  type ModelLayer,
  output,
  plain,
  said,
  answered,
  thought,
  tool,
  wireCall
} from "./_support/chatRequests.ts"

const streamedBodyOf = (layer: ModelLayer) =>
  Effect.gen(function* () {
    const network = fakeNetwork([respondWith(200, () => body([textChunk("x"), finishChunk(), done]))])
    const parts = Effect.flatMap(Model.Model, (model) => Stream.runCollect(model.stream(plain)))
    yield* Effect.provide(parts, Layer.provide(layer, network.layer))
    return JSON.parse(network.sent[0]?.body ?? "")
  })

const instruction = {
  role: "system",
  content:
    'Your final answer is JSON and nothing else. It fits this JSON Schema: {"type":"object","properties":{"a":{"type":"string"}}}'
}

describe("every provider", () => {
  const providers: ReadonlyArray<readonly [string, ModelLayer, string]> = [
    ["openai", OpenAi.layer(chosen), "https://api.openai.com/v1/chat/completions"],
    ["deepseek", DeepSeek.layer(chosen), "https://api.deepseek.com/chat/completions"],
    ["kimi", Kimi.layer(chosen), "https://api.moonshot.ai/v1/chat/completions"],
    ["openrouter", OpenRouter.layer(chosen), "https://openrouter.ai/api/v1/chat/completions"],
    ["perplexity", Perplexity.layer({ ...chosen, api: "chat" }), "https://api.perplexity.ai/chat/completions"]
  ]
  for (const [name, layer, url] of providers) {
    it.effect(`${name} is called at its own address, with its key, and named by the model [A814]`, () =>
      Effect.gen(function* () {
        const { exit, sent } = yield* exchangeWith(layer)
        assert(Exit.isSuccess(exit))
        assert.strictEqual(sent?.url, url)
        assert.strictEqual(sent?.headers["authorization"], `Bearer ${key}`)
        assert.deepStrictEqual(JSON.parse(sent?.body ?? ""), {
          model: "m",
          messages: [{ role: "user", content: "hi" }]
        })
        const { provider } = yield* Effect.provide(Model.Model, Layer.provide(layer, fakeNetwork([]).layer))
        assert.strictEqual(provider, name)
        const { stream, stream_options: options } = yield* streamedBodyOf(layer)
        assert.isTrue(stream)
        assert.deepStrictEqual(options, name === "perplexity" ? undefined : { include_usage: true })
      })
    )
  }

  it.effect("gets the same messages in the next request, with any messages behind them [P1110]", () =>
    Effect.gen(function* () {
      const messages = [
        Message.system("be brief"),
        Message.user("weather?"),
        said(thought("deepseek", "hm", "reasoning_content"), answered("c1")),
        said(thought("kimi", "hm", "reasoning_content"), answered("c2", "told", "no such city")),
        said(Message.text("rain")),
        Message.user("sure?")
      ]
      for (const [name, layer] of providers) {
        const all = yield* messagesOf(layer, ...messages)
        for (let length = 2; length < messages.length; length++) {
          const before = yield* messagesOf(layer, ...messages.slice(0, length))
          assert.deepStrictEqual(all.slice(0, before.length), before, name)
        }
      }
    })
  )

  const byName = [
    ["OPENAI_API_KEY", OpenAi.model("m")],
    ["DEEPSEEK_API_KEY", DeepSeek.model("m")],
    ["MOONSHOT_API_KEY", Kimi.model("m")],
    ["OPENROUTER_API_KEY", OpenRouter.model("m")],
    ["PERPLEXITY_API_KEY", Perplexity.model("m")]
  ] as const
  for (const [variable, layer] of byName) {
    it.effect(`has its key from ${variable}, and is a ConfigError without`, () =>
      Effect.gen(function* () {
        const built = (env: Record<string, string>) =>
          Effect.exit(
            Effect.provide(Effect.asVoid(Model.Model), layer).pipe(
              Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env))
            )
          )
        assert.isTrue(Exit.isSuccess(yield* built({ [variable]: "k" })))
        assert.include(String(yield* built({})), variable)
      })
    )
  }
})

describe("DeepSeek", () => {
  const layer = DeepSeek.layer(chosen)

  it.effect("gets its own thoughts back, and an empty text where calls have only those of others [P1002]", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf(
        layer,
        said(thought("deepseek", "hm", "reasoning_content"), answered("c1"), answered("c2", "told", "no such city")),
        said(thought("kimi", "so", "reasoning_content"), answered("c3")),
        said(thought("kimi", "so", "reasoning_content"), Message.text("rain"))
      )
      assert.deepStrictEqual(messages, [
        {
          role: "assistant",
          content: null,
          reasoning_content: "hm",
          tool_calls: [wireCall("c1"), wireCall("c2")]
        },
        { role: "tool", tool_call_id: "c1", content: "rain" },
        { role: "tool", tool_call_id: "c2", content: "ERROR: no such city" },
        { role: "assistant", content: null, reasoning_content: "", tool_calls: [wireCall("c3")] },
        { role: "tool", tool_call_id: "c3", content: "rain" },
        { role: "assistant", content: "rain" }
      ])
    })
  )

  it.effect("sends options under its own names, and switches thinking on and off", () =>
    Effect.gen(function* () {
      const options = { temperature: 0, topP: 0.5, maxTokens: 9, stop: ["x"], extra: { logprobs: true } }
      const { messages: _m, ...others } = yield* bodyOf(DeepSeek.layer({ ...chosen, ...options }))
      assert.deepStrictEqual(others, {
        logprobs: true,
        model: "m",
        temperature: 0,
        top_p: 0.5,
        max_tokens: 9,
        stop: ["x"]
      })
      const thinking = yield* bodyOf(DeepSeek.layer({ ...chosen, reasoning: "high" }))
      assert.deepStrictEqual(thinking.thinking, { type: "enabled" })
      assert.strictEqual(thinking.reasoning_effort, "high")
      const not = yield* bodyOf(DeepSeek.layer({ ...chosen, reasoning: "none" }))
      assert.deepStrictEqual(not.thinking, { type: "disabled" })
      assert.notProperty(not, "reasoning_effort")
    })
  )

  it.effect("gets the schema of an output as text, and the format JSON [P301]", () =>
    Effect.gen(function* () {
      const body = yield* bodyOf(layer, { output })
      assert.deepStrictEqual(body.response_format, { type: "json_object" })
      assert.deepStrictEqual(body.messages, [instruction, { role: "user", content: "hi" }])
      const list = yield* bodyOf(layer, { output: { name: "list", schema: { type: "array" } } })
      assert.notProperty(list, "response_format")
      assert.include(list.messages[0].content, '{"type":"array"}')
    })
  )

  it.effect("refuses pictures and files, and nothing is sent [A814]", () =>
    Effect.gen(function* () {
      for (const [part, capability] of [
        [image({ data: "aGk=" }), "vision"],
        [Message.file("application/pdf", { data: "aGk=" }), "files"]
      ] as const) {
        const { exit, sent } = yield* exchangeWith(layer, { messages: [Message.user([part])] })
        assert.strictEqual(failsWith(exit, LlmError.CapabilityMismatchError).capability, capability)
        assert.isUndefined(sent)
      }
    })
  )
})

describe("Kimi", () => {
  it.effect("keeps ids as they are, and puts a blank for thoughts that a call lacks [P1002]", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf(
        Kimi.layer(chosen),
        said(answered("get_weather:0")),
        said(
          thought("kimi", "hm", "reasoning_content"),
          answered("functions.get_weather.with.a.very.long.name.of.its.own:0")
        )
      )
      assert.deepStrictEqual(messages, [
        { role: "assistant", content: null, reasoning_content: " ", tool_calls: [wireCall("get_weather:0")] },
        { role: "tool", tool_call_id: "get_weather:0", content: "rain" },
        {
          role: "assistant",
          content: null,
          reasoning_content: "hm",
          tool_calls: [wireCall("functions.get_weather.with.a.very.long.name.of.its.own:0")]
        },
        { role: "tool", tool_call_id: "functions.get_weather.with.a.very.long.name.of.its.own:0", content: "rain" }
      ])
    })
  )

  it.effect("takes thinking in tokens, a key of the cache, and pictures as bytes alone", () =>
    Effect.gen(function* () {
      const body = yield* bodyOf(
        Kimi.layer({ ...chosen, reasoning: { maxTokens: 500 }, promptCache: { key: "k" }, maxTokens: 7 })
      )
      assert.deepStrictEqual(body.thinking, { type: "enabled", budget_tokens: 500 })
      assert.strictEqual(body.prompt_cache_key, "k")
      const switched = yield* bodyOf(Kimi.layer({ ...chosen, reasoning: "high" }))
      assert.deepStrictEqual(switched.thinking, { type: "enabled" })
      assert.notProperty(switched, "reasoning_effort")
      assert.strictEqual(body.max_tokens, 7)
      const shown = yield* messagesOf(Kimi.layer(chosen), Message.user([image({ data: "aGk=" })]))
      assert.strictEqual(shown[0].content[0].image_url.url, "data:image/png;base64,aGk=")
      const asked = { messages: [Message.user([image({ url: "https://example.org/a.png" })])] }
      const { exit } = yield* exchangeWith(Kimi.layer(chosen), asked)
      assert.strictEqual(failsWith(exit, LlmError.CapabilityMismatchError).capability, "vision")
    })
  )
})

describe("OpenAI", () => {
  it.effect("cuts ids that are too long for it, in call and result alike [P1002]", () =>
    Effect.gen(function* () {
      const [long, fitting] = ["x".repeat(60), "y".repeat(40)]
      const messages = yield* messagesOf(
        OpenAi.layer(chosen),
        said(answered(long), answered(long), answered("c"), answered(fitting))
      )
      const ids = messages[0].tool_calls.map(({ id }: { id: string }) => id)
      assert.deepStrictEqual(ids, [`${"x".repeat(38)}_0`, `${"x".repeat(38)}_1`, "c", fitting])
      assert.deepStrictEqual(
        messages.slice(1).map(({ tool_call_id: id }: { tool_call_id: string }) => id),
        ids
      )
    })
  )

  it.effect("demands a tool as its options want it, once for every user message", () =>
    Effect.gen(function* () {
      const layer = OpenAi.layer({ ...chosen, toolChoice: "required" })
      assert.strictEqual((yield* bodyOf(layer, { tools: [tool] })).tool_choice, "required")
      const messages = [Message.user("hi"), said(answered("c"))]
      assert.notProperty(yield* bodyOf(layer, { tools: [tool], messages }), "tool_choice")
      assert.strictEqual((yield* bodyOf(layer, { tools: [tool], toolChoice: "none" })).tool_choice, "none")
    })
  )
})
