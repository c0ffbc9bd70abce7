/** The providers that can be asked. What Perplexity answers was never recorded, so it is not among them. */
import type { Model } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter } from "@kintsugi/providers"
import type { Config, Layer } from "effect"

interface Where {
  readonly baseUrl?: string
}

/** Their keys come from the environment, `Redacted`, and from nowhere else. */
const providers = {
  anthropic: (name: string, where: Where) => Anthropic.model(name, where),
  deepseek: (name: string, where: Where) => DeepSeek.model(name, where),
  gemini: (name: string, where: Where) => Gemini.model(name, where),
  kimi: (name: string, where: Where) => Kimi.model(name, where),
  ollama: (name: string, where: Where) => Ollama.model(name, where),
  openai: (name: string, where: Where) => OpenAi.model(name, where),
  "openai-responses": (name: string, where: Where) => OpenAi.responses(name, where),
  openrouter: (name: string, where: Where) => OpenRouter.model(name, where)
} satisfies Record<string, (name: string, where: Where) => Layer.Layer<Model.Model, Config.ConfigError>>

export type ProviderName = keyof typeof providers

// the keys of a literal are its own
export const providerNames = Object.keys(providers) as ReadonlyArray<ProviderName>

/** A model by provider and name. */
export const modelOf = (
  provider: ProviderName,
  name: string,
  where: Where
): Layer.Layer<Model.Model, Config.ConfigError> => providers[provider](name, where)
