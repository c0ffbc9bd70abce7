/** OpenRouter, which passes requests on to the providers of many models, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Capabilities } from "../codec/Capabilities.ts"
import type * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import type * as OpenAiChat from "../codec/openai-chat/OpenAiChat.ts"
import type * as Transport from "../transport/Transport.ts"

/** `baseUrl` is `https://openrouter.ai/api/v1` by default. `plugins` and the like go in `extra`. */
export interface Options extends Omit<OpenAiChat.Parameters, "promptCache">, ByName.Reach {
  /** The address of your application, sent as `HTTP-Referer`. */
  readonly referer?: string
  /** The name of your application, sent as `X-Title`. */
  readonly title?: string
  /** Which of the providers behind it may be asked, and in which order. */
  readonly routing?: Routing
  /** The models to ask instead when the model fails, in this order. The reply says which one it was. */
  readonly fallbacks?: ReadonlyArray<string>
}

/** OpenRouter's preferences, sent as `provider`; names of providers are slugs, `anthropic` or `deepinfra/turbo`. */
export interface Routing {
  /** Asked in this order. */
  readonly order?: ReadonlyArray<string>
  /** No other is asked. */
  readonly only?: ReadonlyArray<string>
  /** Never asked. */
  readonly ignore?: ReadonlyArray<string>
  /** Whether others may be asked when those of `order` fail; true by default. */
  readonly allowFallbacks?: boolean
  /** Whether only those are asked that know every parameter of the request; false by default. */
  readonly requireParameters?: boolean
  /** Whether those may be asked that keep what they are sent. */
  readonly dataCollection?: "allow" | "deny"
  /** What to prefer among the rest. */
  readonly sort?: "price" | "throughput" | "latency"
  /** Further preferences, as the wire names them. */
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

/** The options, with model and key. */
export interface LayerOptions extends Options, ChatProvider.Chosen {}

/** What can be said to OpenRouter; what a model can do is up to the provider behind it. */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url"],
  files: ["data", "url"],
  output: "schema",
  toolErrors: "text",
  reasoning: "demanded",
  promptCache: "automatic"
}

/** What is worth knowing of it. */
export const quirks: ReadonlyArray<string> = [
  "What a model can do depends on the provider behind it; what no provider of it can is a `CapabilityMismatchError` from the answer.",
  "What was thought goes back as it came, in `reasoning` and `reasoning_details`; the pieces of a stream are put together first.",
  "An error may come with the status 200, also after the reply has ended: such a reply is an error.",
  "402 is a `QuotaExhaustedError`, but for `openrouter_in_flight_budget`, which is a `RateLimitError`: it passes.",
  "What its own tools (`providerTools`) found is in the text of the reply; there are no provider items of theirs.",
  "It tells what a reply cost, in credits, and which model gave it.",
  'Models of Anthropic cache only what is marked: `extra: { cache_control: { type: "ephemeral" } }` marks the whole prompt.'
]

const openRouter: ChatProvider.ChatProvider = {
  provider: "openrouter",
  baseUrl: "https://openrouter.ai/api/v1",
  variables: { apiKey: "OPENROUTER_API_KEY", baseUrl: "OPENROUTER_BASE_URL" },
  dialect: { capabilities, maxTokensField: "max_tokens", reasoning: "object" }
}

/** The model behind an `HttpClient` of yours. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { extra, fallbacks, referer, routing, title } = options
  const headers = {
    ...(referer === undefined ? {} : { "http-referer": referer }),
    ...(title === undefined ? {} : { "x-title": title })
  }
  const routed = {
    ...extra,
    ...(routing === undefined ? {} : { provider: preferences(routing) }),
    ...(fallbacks === undefined ? {} : { models: fallbacks })
  }
  return ChatProvider.layer({ ...openRouter, headers }, { ...options, extra: routed })
}

const preferences = (routing: Routing): Readonly<Record<string, Schema.Json>> => {
  const { allowFallbacks, dataCollection, extra, ignore, only, order, requireParameters, sort } = routing
  return {
    ...extra,
    ...(order === undefined ? {} : { order }),
    ...(only === undefined ? {} : { only }),
    ...(ignore === undefined ? {} : { ignore }),
    ...(allowFallbacks === undefined ? {} : { allow_fallbacks: allowFallbacks }),
    ...(requireParameters === undefined ? {} : { require_parameters: requireParameters }),
    ...(dataCollection === undefined ? {} : { data_collection: dataCollection }),
    ...(sort === undefined ? {} : { sort })
  }
}

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `OPENROUTER_API_KEY`, the base URL, unless given, from
 * `OPENROUTER_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ChatProvider.model(openRouter, name, options, layer)
