/**
 * Perplexity as a `Model`. It speaks the agent API, or the older chat completions (`api: "chat"`). The agent API is documented, and was not
 * recorded: see `docs/guide/provider-notes.md`.
 */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type { Capabilities } from "../codec/Capabilities.ts"
import { fitting } from "../codec/Fitting.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import type { ChatParameters, ResponsesParameters } from "../codec/Parameters.ts"
import * as OpenAiResponses from "../codec/openai-responses/OpenAiResponses.ts"
import * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * Options of the agent API. `baseUrl` is `https://api.perplexity.ai` by default. A model is named with its vendor (`openai/gpt-5.6-sol`,
 * `perplexity/sonar`); a preset (`fast`, `low`, `medium`, `high`, `xhigh`, `wide-research`) is named alone, and chooses a model, its prompt
 * and its tools.
 */
interface AgentOptions
  extends
    Pick<
      ResponsesParameters,
      "temperature" | "topP" | "maxTokens" | "toolChoice" | "parallelToolCalls" | "strict" | "extra"
    >,
    ByName.Reach {
  readonly api?: "agent"
  /** The reasoning effort, for models that reason: `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. */
  readonly reasoning?: string
  /** Tools that Perplexity runs itself. By default `[{ type: "web_search" }]`, and for a preset the preset's own tools. */
  readonly providerTools?: ResponsesParameters["providerTools"]
}

/**
 * Options of the chat completions, which Perplexity supported until 2026-09-27. `baseUrl` is `https://api.perplexity.ai` by default. Set
 * search options (`search_mode`, `web_search_options` …) in `extra`.
 */
interface ChatOptions
  extends Pick<ChatParameters, "temperature" | "topP" | "maxTokens" | "stop" | "extra">, ByName.Reach {
  readonly api: "chat"
  /** The reasoning effort, for models that reason: `minimal`, `low`, `medium` or `high`. */
  readonly reasoning?: string
}

/** The options of a model. `api` is `agent` by default. `chat` is the older API, without tools, for servers that still have it. */
export type Options = AgentOptions | ChatOptions

/** The options of `layer`, which also need the model and its API key. */
type LayerOptions = Options & ChatProvider.Chosen

/**
 * The capabilities of the agent API: what a request to it may contain.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url"],
  files: [],
  output: "schema",
  toolErrors: "text",
  reasoning: "none",
  promptCache: "none"
}

/**
 * The capabilities of the chat completions: what a request to them may contain. They have no tools.
 *
 * @internal
 */
export const chatCapabilities: Capabilities = {
  ...capabilities,
  tools: false,
  toolChoice: [],
  files: ["data", "url"],
  audio: [],
  reasoning: "shown"
}

/** The names of Perplexity's presets: the current ones, then the former ones (docs.perplexity.ai, looked up on 2026-11-26). */
const presets = [
  "fast",
  "low",
  "medium",
  "high",
  "xhigh",
  "wide-research",
  "fast-search",
  "pro-search",
  "deep-research",
  "advanced-deep-research"
]

/**
 * The dialect of the agent API. Requests to models of Anthropic get a limit of 8,192 output tokens by default, because the server refuses
 * requests without a limit.
 */
const agent: Parameters<typeof OpenAiResponses.make>[2] = {
  capabilities,
  items: "plain",
  presets,
  maxTokens: { of: "anthropic/", tokens: 8192 }
}

const account = {
  provider: "perplexity",
  prices: "reported",
  baseUrl: "https://api.perplexity.ai",
  variables: { apiKey: "PERPLEXITY_API_KEY", baseUrl: "PERPLEXITY_BASE_URL" }
} as const

const chat: ChatProvider.ChatProvider = {
  ...account,
  catalog: ModelFamilies.perplexity,
  dialect: {
    capabilities: chatCapabilities,
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

/** A model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  if (options.api === "chat") return ChatProvider.layer(chat, options)
  const { baseUrl = account.baseUrl, model, providerTools } = options
  const isPreset = presets.includes(model)
  const asked: ResponsesParameters & ByName.Reach = {
    ...options,
    encryptedReasoning: false,
    providerTools: providerTools ?? (isPreset ? [] : [{ type: "web_search" }])
  }
  // a name without a vendor belongs to the older API; the agent API refuses it
  const catalog = isPreset || model.includes("/") ? ModelFamilies.none : ModelFamilies.perplexity
  return ChatProvider.at(account, "/v1/agent", { ...options, baseUrl: ByName.withoutVersion(baseUrl) }, (source) => ({
    ...fitting(source, asked, catalog, (one, able) => OpenAiResponses.make(source, one, agent, able)),
    ...(isPreset ? { providerTools: true } : {})
  }))
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `PERPLEXITY_API_KEY`, and the base URL from `PERPLEXITY_BASE_URL`, if that is set; a missing key
 * is a `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & ByName.Named>(account.variables, options, layer)

/**
 * A model or a preset by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as
 * in `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
