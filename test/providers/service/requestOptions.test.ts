/** Fields that a request adds to its body, and no other request. */
import { assert, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Anthropic, Gemini, Kimi, Ollama, OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Redacted } from "effect"
import { fakeNetwork, silence } from "../../_support/network.ts"

const options = { model: "m", apiKey: Redacted.make("k"), extra: { service_tier: "flex", user: "u" } }

const layers = {
  anthropic: Anthropic.layer(options),
  gemini: Gemini.layer(options),
  kimi: Kimi.layer(options),
  ollama: Ollama.layer(options),
  openai: OpenAi.layer(options),
  responses: OpenAi.layerResponses(options)
}

it.effect("options of a request are fields of its body alone, beside those of the model [P1550]", () =>
  Effect.gen(function* () {
    for (const [name, layer] of Object.entries(layers)) {
      const network = fakeNetwork(silence)
      const bodyOf = (options?: Model.Request["options"]) =>
        Effect.gen(function* () {
          const model = yield* Model.Model
          const request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" } as const
          const asked = model.generate(options === undefined ? request : { ...request, options })
          const fiber = yield* Effect.forkChild(asked)
          for (let i = 0; i < 60; i++) yield* Effect.yieldNow
          fiber.interruptUnsafe()
          return JSON.parse(network.sent.at(-1)?.body ?? "{}") as Record<string, unknown>
        }).pipe(Effect.provide(Layer.provide(layer, network.layer)))
      const usual = yield* bodyOf()
      const own = { user: "someone", metadata: { id: "1" } }
      // what the library writes stays
      assert.deepStrictEqual(yield* bodyOf(own), { ...usual, user: "someone", metadata: { id: "1" } }, name)
      assert.deepStrictEqual(yield* bodyOf(), usual)
    }
  })
)
