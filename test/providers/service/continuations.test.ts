/** Replies that break off on their way, over real connections: which providers go on, and in which form they are asked to. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, AgentEvent, Recovery, Tool } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import {
  Anthropic,
  DeepSeek,
  Gemini,
  Kimi,
  Ollama,
  OpenAi,
  OpenRouter,
  Perplexity,
  Transport
} from "@kintsugi/providers"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as Provider from "@kintsugi/providers/Provider"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Context, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { failsWith, fakeNetwork, key, respond } from "../../_support/network.ts"

type Making = (baseUrl: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>

const apiKey = Redacted.make(key)
const transport = { retry: false } as const

const mistral: Making = (baseUrl) => {
  const source = { provider: "mistral", model: "mistral-large-latest", secrets: [apiKey] }
  const dialect = { maxTokensField: "max_tokens", continuation: { field: "prefix", reply: "whole" } } as const
  return Provider.layer({
    source,
    codec: OpenAiChat.make(source, {}, dialect),
    url: `${baseUrl}/v1/chat/completions`,
    headers: { authorization: Redacted.make(`Bearer ${key}`) },
    transport
  })
}

const claude =
  (model: string, options: Anthropic.Options = {}): Making =>
  (baseUrl) =>
    Anthropic.layer({ model, apiKey, baseUrl, transport, ...options })

interface Going {
  readonly make: Making
  /** How many events of the stream have come with the first piece of the text. */
  readonly events: number
  readonly path: string
  readonly last: Schema.Json
  readonly isWhole?: boolean
}

const chat = (mark: Schema.JsonObject) => ({ role: "assistant", content: "grüße", ...mark })

/** The providers that go on, each with what it is sent. */
const going: Readonly<Record<string, Going>> = {
  DeepSeek: {
    make: (baseUrl) => DeepSeek.layer({ model: "deepseek-chat", apiKey, baseUrl, transport }),
    events: 2,
    path: "/beta/chat/completions",
    last: chat({ prefix: true })
  },
  "DeepSeek with a version in its URL": {
    make: (baseUrl) => DeepSeek.layer({ model: "deepseek-chat", apiKey, baseUrl: `${baseUrl}/v1/`, transport }),
    events: 2,
    path: "/beta/chat/completions",
    last: chat({ prefix: true })
  },
  Kimi: {
    make: (baseUrl) => Kimi.layer({ model: "kimi-k2.5", apiKey, baseUrl: `${baseUrl}/v1`, transport }),
    events: 2,
    path: "/v1/chat/completions",
    last: chat({ partial: true })
  },
  Mistral: {
    make: mistral,
    events: 2,
    path: "/v1/chat/completions",
    last: chat({ prefix: true }),
    isWhole: true
  },
  "Claude up to 4.5": {
    make: claude("claude-sonnet-4-5-20250929"),
    events: 4,
    path: "/v1/messages",
    last: { role: "assistant", content: [{ type: "text", text: "grüße" }] }
  }
}

const body = Schema.decodeUnknownSync(Schema.Struct({ messages: Schema.Array(Schema.Json) }))

const textOfLast = (messages: ReadonlyArray<Message.Foreign>): string => {
  const last = messages.at(-1)
  return last?.role === "assistant" ? Message.textOf({ content: last.content }) : ""
}

/** Says all of it to a user, and the rest to itself; one that is `whole` says all of it again. */
const serving = ({ events, isWhole = false }: Going, breaks: number) => {
  const speaker = AnyWire.handler(({ messages }) => {
    const said = textOfLast(messages)
    const whole = "grüße & more words"
    const text = isWhole ? whole : whole.slice(said.length)
    return Effect.succeed({ content: [Message.text(text)] })
  })
  const failure = { type: "overloaded" } as const
  const fault = AnyWire.breakingOff(failure, events)
  return LoopbackServer.make(Fault.inFront([fault, ...Array.from({ length: breaks - 1 }, () => fault)], speaker))
}

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
})

const agent = Agent.make("clerk", {
  prompt: "Be brief.",
  skills: [{ name: "look", description: "Looks.", tools: [look] }]
}).pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 3 }) }, { onPartial: "continue" }))

describe("a reply that breaks off", () => {
  for (const [name, provider] of Object.entries(going)) {
    it.live(`goes on with ${name}, in one message [P1560 P1561]`, () =>
      Effect.gen(function* () {
        for (const breaks of [1, 2]) {
          const server = yield* serving(provider, breaks)
          const model = Layer.provide(provider.make(server.url), Transport.layerFetch)
          const events = yield* Stream.runCollect(agent.stream("go")).pipe(Effect.provide(model))
          assert.deepInclude(events.at(-1), { type: "run-completed", output: "grüße & more words" })
          const texts = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []))
          assert.strictEqual(texts.join(""), "grüße & more words")
          assert.deepStrictEqual(AgentEvent.transcriptOf(events).slice(2), [Message.assistant("grüße & more words")])
          const [first, ...others] = yield* server.requests
          assert.lengthOf(others, breaks)
          assert.notInclude(first?.path, "/beta/")
          assert.nestedPropertyVal(others[0], "path", provider.path)
          const { messages } = body(others[0]?.body)
          assert.deepStrictEqual(messages.at(-1), provider.last)
        }
      })
    )
  }
})

/** Models that do not go on: their form has no way, the provider refuses it, or it demands signed thoughts first. */
const refusing: Readonly<Record<string, Making>> = {
  OpenAI: (baseUrl) => OpenAi.layer({ model: "m", apiKey, baseUrl, transport }),
  "OpenAI's Responses": (baseUrl) => OpenAi.layerResponses({ model: "m", apiKey, baseUrl, transport }),
  Gemini: (baseUrl) => Gemini.layer({ model: "m", apiKey, baseUrl, transport }),
  Ollama: (baseUrl) => Ollama.layer({ model: "m", baseUrl, transport }),
  OpenRouter: (baseUrl) => OpenRouter.layer({ model: "m", apiKey, baseUrl, transport }),
  Perplexity: (baseUrl) => Perplexity.layer({ api: "chat", model: "m", apiKey, baseUrl, transport }),
  "Claude 4.6": claude("claude-sonnet-4-6"),
  "Claude with thoughts": claude("claude-sonnet-4-5", { reasoning: { maxTokens: 2000 } }),
  "Claude with thoughts by its own field": claude("claude-opus-4-1", { extra: { thinking: { type: "enabled" } } }),
  "Claude that has to call": claude("claude-opus-4-1", { toolChoice: "required" }),
  "DeepSeek in JSON": (baseUrl) =>
    DeepSeek.layer({ model: "m", apiKey, baseUrl, transport, extra: { response_format: { type: "json_object" } } }),
  "Kimi that has to call": (baseUrl) =>
    Kimi.layer({ model: "m", apiKey, baseUrl, transport, toolChoice: { tool: "look" } })
}

const built = (make: Making, baseUrl: string) =>
  Effect.map(Layer.build(Layer.provide(make(baseUrl), Transport.layerFetch)), (context) =>
    Context.get(context, Model.Model)
  )

it.effect("a request that ends with the beginning of a reply is sent to a model that goes on [P1560]", () =>
  Effect.gen(function* () {
    const reply = { content: [{ type: "text", text: " Gott" }], stop_reason: "end_turn" }
    const network = fakeNetwork(respond(200, { type: "message", role: "assistant", model: "m", ...reply }))
    const layer = Layer.provide(claude("claude-3-haiku-20240307")("https://a.test"), network.layer)
    const model = yield* Effect.provide(Model.Model, layer)
    const begun = { ...Message.assistant("grüße"), incomplete: true } as const
    const said = yield* model.generate({ messages: [Message.user("go"), begun], tools: [], toolChoice: "auto" })
    assert.strictEqual(Message.textOf(said), " Gott")
    assert.strictEqual(network.sent.length, 1)
  })
)

describe("a model that does not go on", () => {
  for (const [name, make] of Object.entries(refusing)) {
    it.live(`says so as data, and refuses such a request before it is sent: ${name} [P1560 P1562]`, () =>
      Effect.gen(function* () {
        // a port without a server: a sent request would fail differently
        const model = yield* built(make, yield* LoopbackServer.refusedUrl)
        assert.isUndefined(model.continuation)
        const begun = { ...Message.assistant("grüße"), incomplete: true } as const
        const asked = { messages: [Message.user("go"), begun], tools: [], toolChoice: "auto" } as const
        const whole = Effect.asVoid(model.generate(asked))
        for (const call of [whole, Stream.runDrain(model.stream(asked))]) {
          const error = failsWith(yield* Effect.exit(call), LlmError.CapabilityMismatchError)
          assert.strictEqual(error.capability, "other")
          assert.strictEqual(error.detail, "it does not go on from a message of its own")
        }
      })
    )
  }

  it.live("is known by the name of the Claude [P1560]", () =>
    Effect.gen(function* () {
      const names: Readonly<Record<string, "rest" | undefined>> = {
        "claude-2.1": "rest",
        "claude-instant-1.2": "rest",
        "claude-3-haiku-20240307": "rest",
        "claude-3-7-sonnet-latest": "rest",
        "claude-opus-4-20250514": "rest",
        "claude-sonnet-4-0": "rest",
        "claude-opus-4-1": "rest",
        "claude-haiku-4-5": "rest",
        "claude-opus-4-5-20251101": "rest",
        "claude-opus-4-6": undefined,
        "claude-sonnet-4-6-20260217": undefined,
        "claude-opus-4-7": undefined,
        "claude-sonnet-5": undefined,
        "claude-opus-4-10": undefined,
        "claude-30": undefined,
        "a-model-of-another-house": undefined
      }
      for (const [name, continuation] of Object.entries(names)) {
        const model = yield* built(claude(name), "http://127.0.0.1:1")
        assert.strictEqual(model.continuation, continuation, name)
      }
      const still = yield* built(claude("claude-sonnet-4-5", { reasoning: "none" }), "http://127.0.0.1:1")
      assert.strictEqual(still.continuation, "rest")
    })
  )
})
