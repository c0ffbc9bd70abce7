/** Perplexity's Sonar models, which search before they answer, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type { Capabilities } from "../codec/Capabilities.ts"
import type { ChatParameters } from "../codec/Parameters.ts"
import type * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * `baseUrl` is `https://api.perplexity.ai` by default. Set search options (`search_mode`, `web_search_options` …) in
 * `extra`.
 */
export interface Options
  extends Pick<ChatParameters, "temperature" | "topP" | "maxTokens" | "stop" | "extra">, ByName.Reach {
  /** An effort: `minimal`, `low`, `medium` or `high`, for reasoning models. */
  readonly reasoning?: string
}

/** The options, with model and key. */
interface LayerOptions extends Options, ChatProvider.Chosen {}

/**
 * What requests to Perplexity may contain: no tools.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: false,
  toolChoice: [],
  images: ["data", "url"],
  files: ["data", "url"],
  output: "schema",
  toolErrors: "text",
  reasoning: "shown",
  promptCache: "none"
}

const perplexity: ChatProvider.ChatProvider = {
  provider: "perplexity",
  baseUrl: "https://api.perplexity.ai",
  variables: { apiKey: "PERPLEXITY_API_KEY", baseUrl: "PERPLEXITY_BASE_URL" },
  dialect: {
    capabilities,
    maxTokensField: "max_tokens",
    thinkTags: true,
    streamOptions: false,
    lastEvent: "chat.completion.done",
    files: "file_url",
    alternates: true,
    providerTools: true,
    sources: ["citations", "search_results", "images", "related_questions"]
  }
}

/** The model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  ChatProvider.layer(perplexity, options)

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `PERPLEXITY_API_KEY`, the base URL, unless given, from
 * `PERPLEXITY_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ChatProvider.model(perplexity, name, options, layer)
