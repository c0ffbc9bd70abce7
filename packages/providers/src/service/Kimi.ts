/** Kimi of Moonshot AI, as a `Model`. */
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

/**
 * Options of Kimi's chat completions. `baseUrl` is `https://api.moonshot.ai/v1` by default; in China the server is
 * `https://api.moonshot.cn/v1`.
 */
export interface Options
  extends
    Pick<ChatParameters, "temperature" | "topP" | "maxTokens" | "stop" | "reasoning" | "toolChoice" | "extra">,
    ByName.Reach {
  /** A cache key of your choice. Requests with the same key and the same beginning share a cached prompt. */
  readonly promptCache?: { readonly key: string }
}

/** The options of `layer`, which also need the model and its API key. */
interface LayerOptions extends Options, ChatProvider.Chosen {}

/**
 * The capabilities of Kimi: what a request to it may contain.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "id"],
  files: [],
  output: "json",
  toolErrors: "text",
  reasoning: "demanded",
  promptCache: "key"
}

const kimi: ChatProvider.ChatProvider = {
  provider: "kimi",
  catalog: ModelFamilies.kimi,
  prices: Prices.kimi,
  baseUrl: "https://api.moonshot.ai/v1",
  variables: { apiKey: "MOONSHOT_API_KEY", baseUrl: "MOONSHOT_BASE_URL" },
  // The reasoning of an earlier message without any is sent as a blank, because the server treats an empty text as absent.
  dialect: {
    capabilities,
    maxTokensField: "max_tokens",
    // Mutant `""` survives: what is no other way of requesting it is this way
    reasoning: "thinking",
    missingReasoning: " ",
    // the scheme of URLs of stored images: platform.kimi.ai/docs/guide/use-kimi-vision-model, looked up on 2026-11-26
    storedImages: "ms://",
    // models that read images in tool results: measured with K2.6 in github.com/lm15-dev/lm15-contract, `research/tool-result-content`,
    // looked up on 2026-11-26
    resultImages: /^kimi-k(?:2\.[5-9]|[3-9])/,
    continuation: { field: "partial", reply: "rest" }
  }
}

/** A model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  ChatProvider.layer(kimi, options)

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `MOONSHOT_API_KEY`, and the base URL from `MOONSHOT_BASE_URL`, if that is set; a missing key is a
 * `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & ByName.Named>(kimi.variables, options, layer)

/**
 * A model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as in
 * `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
