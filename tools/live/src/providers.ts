/** The providers that can be asked, each over the HTTP client in the context, so that a recording can stand in its place. */
import type { Model } from "@kintsugi/core"
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
import type { Layer, Redacted } from "effect"
import { providers as listed } from "../../../scripts/providers.ts"

/** What a scenario chooses of a model. */
export interface Options {
  readonly model: string
  readonly apiKey: Redacted.Redacted
  readonly maxTokens: number
  readonly baseUrl?: string
  readonly reasoning?: string
  readonly transport?: Transport.Options
}

interface Provider {
  readonly layer: (options: Options) => Layer.Layer<Model.Model, never, Transport.HttpClient>
  /** The variable of its key, and whether it answers without one. */
  readonly key: string
  readonly isKeyOptional?: true
  /** The variable of its base URL. */
  readonly baseUrl: string
  /** Asked if `--model` says nothing else. */
  readonly model: string
}

/** The names of keys stand in the list of `npm run providers`. */
const keyOf = (name: string): string => listed[name]?.key ?? `${name.toUpperCase()}_API_KEY`

const variables = (name: string) => ({ key: keyOf(name), baseUrl: keyOf(name).replace(/_API_KEY$/, "_BASE_URL") })

/** The names of models are those of `scripts/modelNames.ts`, with their vendors where a provider wants them. */
const providers = {
  anthropic: { layer: Anthropic.layer, ...variables("Anthropic"), model: "claude-sonnet-4-6" },
  deepseek: { layer: DeepSeek.layer, ...variables("DeepSeek"), model: "deepseek-flash" },
  gemini: { layer: Gemini.layer, ...variables("Gemini"), model: "gemini-3.8-flash" },
  kimi: { layer: Kimi.layer, ...variables("Kimi"), model: "kimi-k3" },
  ollama: { layer: Ollama.layer, ...variables("Ollama"), isKeyOptional: true, model: "qwen3" },
  openai: { layer: OpenAi.layer, ...variables("OpenAi"), model: "gpt-5.6-terra" },
  "openai-responses": { layer: OpenAi.layerResponses, ...variables("OpenAiResponses"), model: "gpt-5.6-terra" },
  openrouter: { layer: OpenRouter.layer, ...variables("OpenRouter"), model: "anthropic/claude-haiku-4.5" },
  perplexity: { layer: Perplexity.layer, ...variables("Perplexity"), model: "perplexity/sonar" }
} as const satisfies Record<string, Provider>

export type ProviderName = keyof typeof providers

// the keys of a literal are its own
export const providerNames = Object.keys(providers) as ReadonlyArray<ProviderName>

export const providerOf = (name: ProviderName): Provider => providers[name]
