/** `effect/ai`'s own `Chat` on our providers, over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError, Message, type Model, Usage } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Duration, Effect, Layer, Schema } from "effect"
import { Chat, LanguageModel } from "effect/ai"
import { apiKey, handlers, ways } from "./_support/weatherChat.ts"

type Provider = (baseUrl: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>

const once = { retry: false } as const

const providers: Readonly<Record<string, Provider>> = {
  anthropic: (baseUrl) => Anthropic.layer({ model: "m", apiKey, baseUrl, transport: once }),
  "openai chat": (baseUrl) => OpenAi.layer({ model: "m", apiKey, baseUrl, transport: once }),
  "openai responses": (baseUrl) => OpenAi.layerResponses({ model: "m", apiKey, baseUrl, transport: once }),
  gemini: (baseUrl) => Gemini.layer({ model: "m", apiKey, baseUrl, transport: once }),
  ollama: (baseUrl) => Ollama.layer({ model: "m", baseUrl, transport: once })
}

const at = (provider: Provider, url: string) =>
  EffectAi.languageModel.pipe(Layer.provide(provider(url)), Layer.provide(Transport.layerFetch))

/** Calls the tool, then tells what it read of it. */
const brain: AnyWire.Brain = ({ messages }) => {
  const last = messages.at(-1)
  const content: Message.Reply["content"] =
    last?.role === "tool"
      ? [Message.text(`It says ${last.text}`)]
      : [Message.text("Let me see."), { type: "tool-call", id: "c1", name: "weather", arguments: '{"city":"Kyoto",}' }]
  return Effect.succeed({ content, usage: Usage.make({ inputTokens: 11, outputTokens: 3 }) })
}

describe("Chat of effect/ai on our providers", () => {
  for (const [name, provider] of Object.entries(providers)) {
    for (const [way, ask] of ways) {
      it.live(`runs its toolkit and reads its result: ${name} (${way}) [P1107]`, () =>
        Effect.gen(function* () {
          const server = yield* LoopbackServer.make(AnyWire.handler(brain))
          yield* Effect.gen(function* () {
            const chat = yield* Chat.fromPrompt([{ role: "system", content: "Be brief." }])
            const first = yield* ask(chat, "How is the weather in Kyoto?")
            assert.strictEqual(first.text, "Let me see.")
            assert.deepStrictEqual(first.results, [{ sky: "rain in Kyoto for 1" }])
            assert.strictEqual(first.finish, "tool-calls")
            assert.strictEqual(first.inputTokens, 11)
            const second = yield* ask(chat, [])
            assert.strictEqual(second.text, 'It says {"sky":"rain in Kyoto for 1"}')
            assert.strictEqual(second.finish, "stop")
          }).pipe(Effect.provide([at(provider, server.url), handlers]))
          assert.strictEqual((yield* server.requests).length, 2)
        })
      )
    }

    it.live(`gives an object of its schema: ${name} [P1107]`, () =>
      Effect.gen(function* () {
        const answering: AnyWire.Brain = () =>
          Effect.succeed({ content: [Message.text('```json\n{"count": "3", "note": null}\n```')] })
        const server = yield* LoopbackServer.make(AnyWire.handler(answering))
        const schema = Schema.Struct({ count: Schema.Finite, note: Schema.optionalKey(Schema.String) })
        const response = yield* LanguageModel.generateObject({ prompt: "Count", schema, objectName: "counted" }).pipe(
          Effect.provide(at(provider, server.url))
        )
        assert.deepStrictEqual(response.value, { count: 3 })
      })
    )

    it.live(`its failures state whether and when to resend: ${name} [P801 P1107]`, () =>
      Effect.gen(function* () {
        const limited = AnyWire.failing({ type: "rate-limited", retryAfter: "7 seconds" })
        const refused = AnyWire.failing({ type: "unauthorized", isKeyGiven: true })
        const server = yield* LoopbackServer.make(Fault.inFront([limited, refused], AnyWire.handler(brain)))
        const modelCall = Effect.provide(LanguageModel.generateText({ prompt: "hi" }), at(provider, server.url))
        const first = yield* Effect.flip(modelCall)
        assert.strictEqual(first.reason._tag, "RateLimitError")
        assert.isTrue(first.isRetryable)
        assert.isTrue(LlmError.isLlmError(first.reason.cause))
        const second = yield* Effect.flip(modelCall)
        assert.strictEqual(second.reason._tag, "AuthenticationError")
        assert.isFalse(second.isRetryable)
      })
    )
  }

  it.live("the AiError has the wait of the server [P801 P1107]", () =>
    Effect.gen(function* () {
      const limited = AnyWire.failing({ type: "rate-limited", retryAfter: "7 seconds" })
      const server = yield* LoopbackServer.make(Fault.inFront([limited], AnyWire.handler(brain)))
      const layer = at((url) => OpenAi.layer({ model: "m", apiKey, baseUrl: url, transport: once }), server.url)
      const error = yield* Effect.flip(Effect.provide(LanguageModel.generateText({ prompt: "hi" }), layer))
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(7))
    })
  )
})
