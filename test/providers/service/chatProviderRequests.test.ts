/** What DeepSeek, Kimi, OpenRouter, Perplexity and OpenAI are sent: where, with which headers, and the exact body. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { DeepSeek, Kimi, OpenAi, OpenRouter, Perplexity, type Transport } from "@kintsugi/providers"
import { ConfigProvider, Effect, Exit, Layer, Redacted, type Schema, Stream } from "effect"
import {
  failsWith,
  fakeNetwork,
  key,
  ok,
  respondWith,
  body,
  textChunk,
  finishChunk,
  done
} from "../../_support/network.ts"

type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const chosen = { model: "m", apiKey: Redacted.make(key) }

const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** What was sent, and how it ended. */
const asking = (layer: ModelLayer, request: Partial<Model.Request> = {}) =>
  Effect.gen(function* () {
    const network = fakeNetwork([ok])
    const exit = yield* Effect.flatMap(Model.Model, (model) => model.generate({ ...plain, ...request })).pipe(
      Effect.provide(Layer.provide(layer, network.layer)),
      Effect.exit
    )
    return { exit, sent: network.sent[0] }
  })

const bodyOf = (layer: ModelLayer, request: Partial<Model.Request> = {}) =>
  Effect.map(asking(layer, request), ({ exit, sent }) => {
    assert(Exit.isSuccess(exit), String(exit))
    assert(sent !== undefined)
    return JSON.parse(sent.body)
  })

const messagesOf = (layer: ModelLayer, ...messages: ReadonlyArray<Message.Message>) =>
  Effect.map(bodyOf(layer, { messages }), ({ messages }) => messages)

const streamedBodyOf = (layer: ModelLayer) =>
  Effect.gen(function* () {
    const network = fakeNetwork([respondWith(200, () => body([textChunk("x"), finishChunk(), done]))])
    const parts = Effect.flatMap(Model.Model, (model) => Stream.runCollect(model.stream(plain)))
    yield* Effect.provide(parts, Layer.provide(layer, network.layer))
    return JSON.parse(network.sent[0]?.body ?? "")
  })

const tool: Message.ToolSpec = { name: "search", description: "Searches.", parameters: { type: "object" } }

const settled = (id: string, kind: Message.SettlementKind = "result", text = "rain"): Message.SettledCall => ({
  type: "settled-call",
  call: { type: "tool-call", id, name: "get_weather", arguments: '{"city":"Oslo"}' },
  settlement: { kind, text }
})

const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const thought = (provider: string, text: string, data: Schema.Json): Message.Reasoning => ({
  type: "reasoning",
  text,
  opaque: { provider, data }
})

const wireCall = (id: string) => ({
  id,
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Oslo"}' }
})

const output: Model.OutputSpec = { name: "report", schema: { type: "object", properties: { a: { type: "string" } } } }

const told = {
  role: "system",
  content:
    'Your final answer is JSON and nothing else. It fits this JSON Schema: {"type":"object","properties":{"a":{"type":"string"}}}'
}

const image = (from: Message.Attached) => Message.image("image/png", from)

describe("every provider", () => {
  const providers: ReadonlyArray<readonly [string, ModelLayer, string]> = [
    ["openai", OpenAi.layer(chosen), "https://api.openai.com/v1/chat/completions"],
    ["deepseek", DeepSeek.layer(chosen), "https://api.deepseek.com/chat/completions"],
    ["kimi", Kimi.layer(chosen), "https://api.moonshot.ai/v1/chat/completions"],
    ["openrouter", OpenRouter.layer(chosen), "https://openrouter.ai/api/v1/chat/completions"],
    ["perplexity", Perplexity.layer(chosen), "https://api.perplexity.ai/chat/completions"]
  ]
  for (const [name, layer, url] of providers) {
    it.effect(`${name} is asked at its own address, with its key, and named by the model [A814]`, () =>
      Effect.gen(function* () {
        const { exit, sent } = yield* asking(layer)
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

  it.effect("is sent the same messages again, whatever is added after them [P1110]", () =>
    Effect.gen(function* () {
      const messages = [
        Message.system("be brief"),
        Message.user("weather?"),
        said(thought("deepseek", "hm", "reasoning_content"), settled("c1")),
        said(thought("kimi", "hm", "reasoning_content"), settled("c2", "told", "no such city")),
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
        said(thought("deepseek", "hm", "reasoning_content"), settled("c1"), settled("c2", "told", "no such city")),
        said(thought("kimi", "so", "reasoning_content"), settled("c3")),
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
      const options = { temperature: 0, topP: 0.5, maxTokens: 9, stop: ["x"], extra: { logprobs: true, model: "no" } }
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

  it.effect("is told the schema of an output in words, and held to JSON [P301]", () =>
    Effect.gen(function* () {
      const body = yield* bodyOf(layer, { output })
      assert.deepStrictEqual(body.response_format, { type: "json_object" })
      assert.deepStrictEqual(body.messages, [told, { role: "user", content: "hi" }])
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
        const { exit, sent } = yield* asking(layer, { messages: [Message.user([part])] })
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
        said(settled("get_weather:0")),
        said(
          thought("kimi", "hm", "reasoning_content"),
          settled("functions.get_weather.with.a.very.long.name.of.its.own:0")
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
      const { exit } = yield* asking(Kimi.layer(chosen), asked)
      assert.strictEqual(failsWith(exit, LlmError.CapabilityMismatchError).capability, "vision")
    })
  )
})

describe("OpenRouter", () => {
  it.effect("sends where a request comes from, and how it may be routed", () =>
    Effect.gen(function* () {
      const routing = {
        order: ["anthropic"],
        allowFallbacks: false,
        requireParameters: true,
        dataCollection: "deny",
        sort: "price",
        extra: { zdr: true, order: ["never"] }
      } as const
      const { sent } = yield* asking(
        OpenRouter.layer({
          ...chosen,
          referer: "https://example.org",
          title: "Example",
          routing,
          fallbacks: ["a/b"],
          seed: 3,
          parallelToolCalls: false,
          extra: { provider: { order: ["never"] }, plugins: [{ id: "web" }] }
        })
      )
      assert.strictEqual(sent?.headers["http-referer"], "https://example.org")
      assert.strictEqual(sent?.headers["x-title"], "Example")
      const { messages: _m, ...others } = JSON.parse(sent?.body ?? "")
      assert.deepStrictEqual(others, {
        model: "m",
        seed: 3,
        parallel_tool_calls: false,
        plugins: [{ id: "web" }],
        models: ["a/b"],
        provider: {
          order: ["anthropic"],
          allow_fallbacks: false,
          require_parameters: true,
          data_collection: "deny",
          sort: "price",
          zdr: true
        }
      })
    })
  )

  it.effect("asks for reasoning by effort or in tokens", () =>
    Effect.gen(function* () {
      const asked = (reasoning: OpenRouter.Options["reasoning"]) =>
        Effect.map(
          bodyOf(OpenRouter.layer({ ...chosen, ...(reasoning === undefined ? {} : { reasoning }) })),
          (body) => body.reasoning
        )
      assert.deepStrictEqual(yield* asked("low"), { effort: "low" })
      assert.deepStrictEqual(yield* asked({ maxTokens: 500 }), { max_tokens: 500 })
      assert.isUndefined(yield* asked(undefined))
    })
  )

  it.effect("gets reasoning and its details back unchanged, as they came whole or streamed [P1002]", () =>
    Effect.gen(function* () {
      const details = [
        { type: "reasoning.text", text: "hm", signature: "sig", format: "anthropic-claude-v1", index: 0 },
        { type: "reasoning.encrypted", data: "x", id: "t", index: 0 }
      ]
      const item = (provider: string): Message.ProviderItem => ({
        type: "provider-item",
        kind: "reasoning_details",
        opaque: { provider, data: details }
      })
      const messages = yield* messagesOf(
        OpenRouter.layer(chosen),
        said(thought("openrouter", "hm", "reasoning"), settled("t"), item("openrouter")),
        said(thought("deepseek", "hm", "reasoning_content"), Message.text("rain"), item("other"))
      )
      assert.deepStrictEqual(messages, [
        { role: "assistant", content: null, reasoning: "hm", reasoning_details: details, tool_calls: [wireCall("t")] },
        { role: "tool", tool_call_id: "t", content: "rain" },
        { role: "assistant", content: "rain" }
      ])
    })
  )

  it.effect("takes files at an address", () =>
    Effect.gen(function* () {
      const file = Message.file("application/pdf", { url: "https://example.org/a.pdf" }, "a.pdf")
      const messages = yield* messagesOf(OpenRouter.layer(chosen), Message.user([file]))
      assert.deepStrictEqual(messages[0].content, [
        { type: "file", file: { filename: "a.pdf", file_data: "https://example.org/a.pdf" } }
      ])
    })
  )
})

describe("Perplexity", () => {
  const layer = Perplexity.layer(chosen)

  it.effect("refuses tools before anything is sent [A814]", () =>
    Effect.gen(function* () {
      const { exit, sent } = yield* asking(layer, { tools: [tool] })
      assert.strictEqual(failsWith(exit, LlmError.CapabilityMismatchError).capability, "tools")
      assert.isUndefined(sent)
    })
  )

  it.effect("lets user and assistant take turns, after all instructions", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf(
        layer,
        Message.system("be brief"),
        Message.user("hi"),
        Message.user([Message.text("look"), image({ url: "https://example.org/a.png" })]),
        said(thought("perplexity", "hm", "reasoning_content")),
        Message.user("well?"),
        Message.assistant("a"),
        Message.assistant("b"),
        Message.system("in French"),
        Message.user("go on")
      )
      assert.deepStrictEqual(messages, [
        { role: "system", content: "be brief\n\nin French" },
        {
          role: "user",
          content: [
            { type: "text", text: "hi" },
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "https://example.org/a.png" } },
            { type: "text", text: "well?" }
          ]
        },
        { role: "assistant", content: "a\n\nb" },
        { role: "user", content: "go on" }
      ])
    })
  )

  it.effect("is told in words what tools others have called; sources stay out [P1002]", () =>
    Effect.gen(function* () {
      const sources: Message.ProviderItem = {
        type: "provider-item",
        kind: "sources",
        opaque: { provider: "perplexity", data: { citations: ["https://example.org"] } }
      }
      const messages = yield* messagesOf(
        layer,
        Message.user("weather?"),
        said(Message.text("let me see"), settled("c1"), settled("c2", "denied", "not allowed")),
        said(Message.text("rain"), sources),
        Message.user("sure?")
      )
      assert.deepStrictEqual(messages, [
        { role: "user", content: "weather?" },
        {
          role: "assistant",
          content:
            'let me see\nI called the tool \'get_weather\' with {"city":"Oslo"}.\nI called the tool \'get_weather\' with {"city":"Oslo"}.'
        },
        {
          role: "user",
          content: "The tool 'get_weather' answered: rain\nThe tool 'get_weather' answered: ERROR: not allowed"
        },
        { role: "assistant", content: "rain" },
        { role: "user", content: "sure?" }
      ])
    })
  )

  it.effect("takes files in base64 or at an address, and the schema of an output", () =>
    Effect.gen(function* () {
      const files = Message.user([
        Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
        Message.file("application/pdf", { url: "https://example.org/b.pdf" })
      ])
      const body = yield* bodyOf(layer, { messages: [files], output })
      assert.deepStrictEqual(body.messages[0].content, [
        { type: "file_url", file_url: { url: "aGk=" }, file_name: "a.pdf" },
        { type: "file_url", file_url: { url: "https://example.org/b.pdf" } }
      ])
      assert.deepStrictEqual(body.response_format, {
        type: "json_schema",
        json_schema: { name: "report", schema: output.schema }
      })
    })
  )
})

describe("OpenAI", () => {
  it.effect("cuts ids that are too long for it, in call and result alike [P1002]", () =>
    Effect.gen(function* () {
      const [long, fitting] = ["x".repeat(60), "y".repeat(40)]
      const messages = yield* messagesOf(
        OpenAi.layer(chosen),
        said(settled(long), settled(long), settled("c"), settled(fitting))
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
      const messages = [Message.user("hi"), said(settled("c"))]
      assert.notProperty(yield* bodyOf(layer, { tools: [tool], messages }), "tool_choice")
      assert.strictEqual((yield* bodyOf(layer, { tools: [tool], toolChoice: "none" })).tool_choice, "none")
    })
  )
})
