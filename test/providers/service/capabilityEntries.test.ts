/** Each entry of the option `capabilities` changes what is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Kimi, OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Redacted } from "effect"
import { fakeNetwork, respond } from "../../_support/network.ts"

const apiKey = Redacted.make("k")
const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
const chosen = { model: "my-model", apiKey, transport: { retry: false } } as const

const bodyOf = Effect.fnUntraced(function* (layer: ReturnType<typeof OpenAi.layer>, asked: Model.Request = plain) {
  const network = fakeNetwork(() => respond(500, "{}")())
  yield* Effect.exit(
    Effect.flatMap(Model.Model, (model) => model.generate(asked)).pipe(
      Effect.provide(Layer.provide(layer, network.layer))
    )
  )
  return JSON.parse(network.sent[0]?.body ?? "null") as Readonly<Record<string, unknown>>
})

describe("the fields of chat completions", () => {
  it.effect("are Mistral's own at Mistral's host, and OpenAI's at other servers of its models [P1410]", () =>
    Effect.gen(function* () {
      const asked = { ...chosen, model: "mistralai/Mistral-Small-24B-Instruct-2501", seed: 7, maxTokens: 50 }
      const at = (baseUrl: string) => bodyOf(OpenAi.layer({ ...asked, baseUrl }))
      const own = yield* at("https://api.mistral.ai/v1")
      assert.deepInclude(own, { random_seed: 7, max_tokens: 50 })
      assert.notProperty(own, "seed")
      for (const baseUrl of ["http://vllm.test/v1", "https://notmistral.ai/v1", "https://mistral.ai.test/v1"]) {
        const body = yield* at(baseUrl)
        assert.deepInclude(body, { seed: 7, max_completion_tokens: 50 }, baseUrl)
        assert.notProperty(body, "random_seed", baseUrl)
      }
    })
  )

  it.effect("are those that the layer names [P1410]", () =>
    Effect.gen(function* () {
      const capabilities = { maxTokensField: "max_tokens", seedField: "random_seed", reasoningField: "object" } as const
      const asked = { ...chosen, seed: 7, maxTokens: 50, reasoning: "low", capabilities }
      assert.deepInclude(yield* bodyOf(OpenAi.layer(asked)), {
        max_tokens: 50,
        random_seed: 7,
        reasoning: { effort: "low" }
      })
      const kimi = { ...chosen, model: "kimi-k3", reasoning: "low" } as const
      assert.deepInclude(yield* bodyOf(Kimi.layer(kimi)), { reasoning_effort: "low" })
      const switched = { ...kimi, capabilities: { reasoningField: "thinking" } } as const
      assert.deepInclude(yield* bodyOf(Kimi.layer(switched)), { thinking: { type: "enabled" } })
    })
  )
})
