/** Models whose providers run tools on their own side say so: what the user says is checked before such a model is called. */
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
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
  type Transport
} from "@kintsugi/providers"
import { Effect, Layer, Redacted } from "effect"
import { fakeNetwork, silence } from "../../_support/network.ts"

type Making = Layer.Layer<Model.Model, never, Transport.HttpClient>

const account = { model: "m", apiKey: Redacted.make("k") }

const providerTools = [{ type: "web_search" }]

/** Models whose requests have tools of the provider, or switch them on. */
const elsewhere: Readonly<Record<string, Making>> = {
  Anthropic: Anthropic.layer({ ...account, providerTools }),
  "servers of tools at Anthropic": Anthropic.layer({ ...account, extra: { mcp_servers: [] } }),
  Gemini: Gemini.layer({ ...account, providerTools }),
  "OpenAI's responses": OpenAi.layerResponses({ ...account, providerTools }),
  "a search of OpenAI": OpenAi.layer({ ...account, extra: { web_search_options: {} } }),
  OpenRouter: OpenRouter.layer({ ...account, providerTools }),
  "plugins of OpenRouter": OpenRouter.layer({ ...account, extra: { plugins: [{ id: "web" }] } }),
  "Perplexity, which searches by default": Perplexity.layer(account),
  "a preset of Perplexity": Perplexity.layer({ ...account, model: "fast", providerTools: [] }),
  "chat completions of Perplexity, which always search": Perplexity.layer({ ...account, api: "chat" })
}

const plain: Readonly<Record<string, Making>> = {
  Anthropic: Anthropic.layer({ ...account, providerTools: [], extra: { metadata: {} } }),
  DeepSeek: DeepSeek.layer(account),
  Gemini: Gemini.layer(account),
  Kimi: Kimi.layer(account),
  Ollama: Ollama.layer(account),
  OpenAI: OpenAi.layer(account),
  "OpenAI's responses": OpenAi.layerResponses(account),
  OpenRouter: OpenRouter.layer(account),
  "Perplexity without its search": Perplexity.layer({ ...account, providerTools: [] })
}

/** What has been sent when the check of the input decides. */
const sentBefore = (making: Making) =>
  Effect.gen(function* () {
    const network = fakeNetwork(silence)
    let sent = -1
    const agent = Agent.make("clerk", {}).pipe(
      Agent.guardInput(() =>
        Effect.gen(function* () {
          for (let i = 0; i < 60; i++) yield* Effect.yieldNow
          sent = network.sent.length
          return Agent.guard.block("no")
        })
      )
    )
    const model = Layer.provide(making, network.layer)
    const { providerTools } = yield* Effect.provide(Effect.service(Model.Model), model)
    const error = yield* Effect.flip(Effect.provide(agent("hi"), model))
    assert.strictEqual(error._tag, "GuardrailError")
    return { sent, providerTools }
  })

describe("the check of the input comes before the call of a model with tools of its provider", () => {
  for (const [name, making] of Object.entries(elsewhere)) {
    it.effect(`${name} [P1595]`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sentBefore(making), { sent: 0, providerTools: true })
      })
    )
  }
})

describe("and beside the call of any other model", () => {
  for (const [name, making] of Object.entries(plain)) {
    it.effect(`${name} [P1595]`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sentBefore(making), { sent: 1, providerTools: undefined })
      })
    )
  }
})
