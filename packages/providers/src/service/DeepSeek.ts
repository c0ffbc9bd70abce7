/** DeepSeek, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type { Capabilities } from "../codec/Capabilities.ts"
import type { ChatParameters } from "../codec/Parameters.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import * as Prices from "./prices.ts"
import type * as Transport from "../transport/Transport.ts"

/** Options of DeepSeek's chat completions. `baseUrl` is `https://api.deepseek.com` by default. */
export interface Options
  extends Pick<ChatParameters, "temperature" | "topP" | "maxTokens" | "stop" | "toolChoice" | "extra">, ByName.Reach {
  /** The reasoning effort: `high` or `max` switches thinking on, `none` switches it off. */
  readonly reasoning?: string
}

/** The options of `layer`, which also need the model and its API key. */
interface LayerOptions extends Options, ChatProvider.Chosen {}

/**
 * The capabilities of DeepSeek: what a request to it may contain.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: [],
  files: [],
  output: "json",
  toolErrors: "text",
  reasoning: "demanded",
  promptCache: "automatic"
}

const deepSeek: ChatProvider.ChatProvider = {
  provider: "deepseek",
  catalog: ModelFamilies.deepSeek,
  prices: Prices.deepSeek,
  baseUrl: "https://api.deepseek.com",
  variables: { apiKey: "DEEPSEEK_API_KEY", baseUrl: "DEEPSEEK_BASE_URL" },
  dialect: {
    capabilities,
    maxTokensField: "max_tokens",
    reasoning: "thinking-effort",
    missingReasoning: "",
    continuation: { field: "prefix", reply: "rest" }
  },
  continuationUrl: (baseUrl) => ByName.join(ByName.withoutVersion(baseUrl), "/beta/chat/completions")
}

/** A model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  ChatProvider.layer(deepSeek, options)

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `DEEPSEEK_API_KEY`, and the base URL from `DEEPSEEK_BASE_URL`, if that is set; a missing key is a
 * `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & ByName.Named>(deepSeek.variables, options, layer)

/**
 * A model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as in
 * `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
