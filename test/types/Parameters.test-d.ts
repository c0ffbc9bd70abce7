/** Options that a provider has no words for do not compile. */
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import { test } from "vitest"

test("options of a request are those that the provider has", () => {
  Gemini.model("gemini-2.5-flash", { reasoning: { maxTokens: 512 }, toolChoice: "required" })
  Ollama.model("llama3", { reasoning: true, numCtx: 8192 })
  // @ts-expect-error Gemini cannot be told whether to call several tools at once
  Gemini.model("gemini-2.5-flash", { parallelToolCalls: false })
  // @ts-expect-error Ollama cannot be told to call a tool
  Ollama.model("llama3", { toolChoice: "required" })
  // @ts-expect-error thoughts of Ollama's models are on or off, or of a level, but have no budget
  Ollama.model("llama3", { reasoning: { maxTokens: 512 } })
})

test("options are those of their wire [P1416]", () => {
  OpenAi.model("m", { serviceTier: "flex", verbosity: "low", promptCache: { ttl: "24h" } })
  OpenAi.responses("m", { serviceTier: "flex", verbosity: "low", promptCache: { key: "k", ttl: "30m" } })
  Anthropic.model("m", {
    serviceTier: "auto",
    includeThoughts: true,
    promptCache: { breakpoints: ["automatic", "tools"] }
  })
  Bedrock.model("m", { serviceTier: "flex", promptCache: { breakpoints: ["tools"], ttl: "1h" } })
  Gemini.model("m", { serviceTier: "flex", promptCache: { name: "cachedContents/abc" } })
  OpenRouter.model("m", {
    serviceTier: "flex",
    verbosity: "max",
    promptCache: { breakpoints: ["automatic"], ttl: "1h" }
  })
  // @ts-expect-error Converse cannot be told whether to call several tools at once
  Bedrock.model("m", { parallelToolCalls: false })
  // @ts-expect-error neither can Ollama
  Ollama.model("m", { parallelToolCalls: false })
  // @ts-expect-error it has no tiers
  DeepSeek.model("m", { serviceTier: "flex" })
  // @ts-expect-error nor has Kimi
  Kimi.model("m", { serviceTier: "flex" })
  // @ts-expect-error nor a server of one's own
  Ollama.model("m", { serviceTier: "flex" })
  // @ts-expect-error nor the agent API
  Perplexity.model("m", { serviceTier: "flex" })
  // @ts-expect-error the effort says it there
  Anthropic.model("m", { verbosity: "low" })
  // @ts-expect-error it has no seed
  Anthropic.model("m", { seed: 7 })
  // @ts-expect-error its cache has no key
  Anthropic.model("m", { promptCache: { key: "k" } })
  // @ts-expect-error the marks of OpenAI last otherwise
  OpenAi.model("m", { promptCache: { ttl: "1h" } })
  // @ts-expect-error Converse has no mark that moves by itself
  Bedrock.model("m", { promptCache: { breakpoints: ["automatic"] } })
  // @ts-expect-error a content that was cached before has a name
  Gemini.model("m", { promptCache: {} })
  // @ts-expect-error several replies are not read
  OpenAi.model("m", { n: 2 })
})
