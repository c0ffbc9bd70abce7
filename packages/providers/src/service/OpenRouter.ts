/** OpenRouter, a router to many models, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Capabilities } from "../codec/Capabilities.ts"
import type { ChatParameters } from "../codec/Parameters.ts"
import { merged } from "../codec/Extra.ts"
import * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * Options of OpenRouter's chat completions. `baseUrl` is `https://openrouter.ai/api/v1` by default. Set `plugins` and similar fields in
 * `extra`.
 */
export interface Options extends Omit<ChatParameters, "promptCache">, ByName.Reach {
  /** Cache marks, for models that cache only marked content, such as those of Anthropic. No marks by default. */
  readonly promptCache?: Cache
  /** The URL of your application, sent in the header `HTTP-Referer`. */
  readonly referer?: string
  /** The name of your application, sent in the header `X-Title`. */
  readonly title?: string
  /** Which providers behind the router may serve a request, and in which order. */
  readonly routing?: Routing
  /** The models to try when the model fails, in this order. The reply names the model that answered. */
  readonly fallbacks?: ReadonlyArray<string>
}

/** Options of the cache marks, see openrouter.ai/docs/guides/best-practices/prompt-caching (looked up on 2026-11-26). */
interface Cache {
  /**
   * Where the marks stand. `automatic`, the default: the provider marks the last block that it can cache. `system`: a mark behind the
   * system text.
   */
  readonly breakpoints?: ReadonlyArray<"automatic" | "system">
  /** How long the provider caches marked content; `5m` by default. */
  readonly ttl?: "5m" | "1h"
}

/** OpenRouter's routing preferences, sent as `provider`. Provider names are slugs, `anthropic` or `deepinfra/turbo`. */
interface Routing {
  /** The providers to try, in this order. */
  readonly order?: ReadonlyArray<string>
  /** The only providers to try. */
  readonly only?: ReadonlyArray<string>
  /** Providers that are never tried. */
  readonly ignore?: ReadonlyArray<string>
  /** Whether other providers may serve the request when those of `order` fail; true by default. */
  readonly allowFallbacks?: boolean
  /** Whether a provider must support every parameter of the request; false by default. */
  readonly requireParameters?: boolean
  /** Whether providers that store the data of requests may serve the request. */
  readonly dataCollection?: "allow" | "deny"
  /** How to sort the remaining providers. */
  readonly sort?: "price" | "throughput" | "latency"
  /** Further routing preferences, under the names that OpenRouter gives them. */
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

/** The options of `layer`, which also need the model and its API key. */
interface LayerOptions extends Options, ChatProvider.Chosen {}

/**
 * The capabilities of requests to OpenRouter. What a model supports depends on the provider behind OpenRouter.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url"],
  files: ["data", "url"],
  audio: ["wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a", "pcm16", "pcm24"],
  output: "schema",
  toolErrors: "text",
  reasoning: "demanded",
  promptCache: "automatic"
}

const openRouter: ChatProvider.ChatProvider = {
  provider: "openrouter",
  prices: "reported",
  baseUrl: "https://openrouter.ai/api/v1",
  variables: { apiKey: "OPENROUTER_API_KEY", baseUrl: "OPENROUTER_BASE_URL" },
  dialect: { capabilities, maxTokensField: "max_tokens", reasoning: "object" }
}

/** A model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { promptCache, ...others } = options
  const { extra, fallbacks, referer, routing, title } = others
  const { breakpoints = ["automatic"], ttl } = promptCache ?? { breakpoints: [] }
  const mark = { cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } }
  const headers = {
    ...(referer === undefined ? {} : { "http-referer": referer }),
    ...(title === undefined ? {} : { "x-title": title })
  }
  const routed = merged(
    {
      provider: routing === undefined ? undefined : preferences(routing),
      models: fallbacks,
      ...(breakpoints.includes("automatic") ? mark : {})
    },
    extra
  )
  const dialect = { ...openRouter.dialect, ...(breakpoints.includes("system") ? { cacheMark: mark } : {}) }
  return ChatProvider.layer({ ...openRouter, headers, dialect }, { ...others, extra: routed })
}

const preferences = (routing: Routing): Readonly<Record<string, Schema.Json>> => {
  const { allowFallbacks, dataCollection, extra, ignore, only, order, requireParameters, sort } = routing
  return merged(
    {
      order,
      only,
      ignore,
      allow_fallbacks: allowFallbacks,
      require_parameters: requireParameters,
      data_collection: dataCollection,
      sort
    },
    extra
  )
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `OPENROUTER_API_KEY`, and the base URL from `OPENROUTER_BASE_URL`, if that is set; a missing key
 * is a `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & ByName.Named>(openRouter.variables, options, layer)

/**
 * A model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as in
 * `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
