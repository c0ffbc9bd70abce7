import type * as Model from "@kintsugi/core/Model"
import { DeepSeek, Kimi, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import type { Config, Layer } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

declare const isStored: boolean

describe("options of providers", () => {
  it("a model by name needs nothing but its key, for which there may be no variable [A814]", () => {
    type ByName = Layer.Layer<Model.Model, Config.ConfigError>
    sameType<ByName>()(DeepSeek.model("m"))
    sameType<ByName>()(Kimi.model("m", { reasoning: { maxTokens: 100 }, promptCache: { key: "k" } }))
    sameType<ByName>()(OpenRouter.model("m", { reasoning: { maxTokens: 100 }, seed: 1 }))
    sameType<ByName>()(OpenRouter.model("m", { providerTools: [{ type: "openrouter:web_search" }] }))
    sameType<ByName>()(OpenAi.model("m", { reasoning: "low", promptCache: { key: "k" } }))
    sameType<ByName>()(Perplexity.model("m", { temperature: 0 }))
    sameType<ByName>()(Perplexity.model("m", { toolChoice: "required", providerTools: [] }))
    sameType<ByName>()(Perplexity.model("m", { api: "chat", stop: ["."] }))
  })

  it("what a provider has no words for does not compile [A814]", () => {
    // @ts-expect-error it takes no seed
    DeepSeek.model("m", { seed: 1 })
    // @ts-expect-error it takes an effort, not a number of tokens
    OpenAi.model("m", { reasoning: { maxTokens: 100 } })
    sameType<Layer.Layer<Model.Model, Config.ConfigError>>()(
      OpenAi.model("m", { promptCache: { breakpoints: ["system"] } })
    )
    // @ts-expect-error it places the mark behind the conversation itself
    OpenAi.model("m", { promptCache: { breakpoints: ["conversation"] } })
    // @ts-expect-error its cache has a key, and no marks
    Kimi.model("m", { promptCache: { key: "k", breakpoints: ["system"] } })
    // @ts-expect-error a cache without its key does nothing
    OpenAi.model("m", { promptCache: {} })
    // @ts-expect-error neither does it for the responses
    OpenAi.responses("m", { promptCache: {} })
    // @ts-expect-error nor for Kimi
    Kimi.model("m", { promptCache: {} })
    // @ts-expect-error its chat completions have no tools to choose from
    Perplexity.model("m", { api: "chat", toolChoice: "required" })
    // @ts-expect-error its agent API takes no stop sequences
    Perplexity.model("m", { stop: ["."] })
    // @ts-expect-error the key of the cache is OpenAI's and Kimi's
    OpenRouter.model("m", { promptCache: { key: "k" } })
    // @ts-expect-error OpenAI's own tools are those of its responses
    OpenAi.model("m", { providerTools: [] })
    // @ts-expect-error DeepSeek has none of its own
    DeepSeek.model("m", { providerTools: [] })
    sameType<Layer.Layer<Model.Model, Config.ConfigError>>()(OpenAi.responses("m", { chained: true, store: true }))
    // @ts-expect-error only a stored reply can be named by the next request
    OpenAi.responses("m", { chained: true })
    // @ts-expect-error this one is not stored
    OpenAi.responses("m", { chained: true, store: false })
    // @ts-expect-error nor is it known of this one
    OpenAi.responses("m", { chained: true, store: isStored })
    // @ts-expect-error Perplexity's pages contradict each other
    Perplexity.model("m", { chained: true, store: true })
    // @ts-expect-error the routing is OpenRouter's
    Kimi.model("m", { routing: { sort: "price" } })
  })
})
