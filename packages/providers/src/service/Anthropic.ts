/** Anthropic, and every server that speaks its Messages, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as AnthropicMessages from "../codec/anthropic/AnthropicMessages.ts"
import type { Capabilities } from "../codec/Capabilities.ts"
import * as ByName from "./byName.ts"
import * as Provider from "./Provider.ts"
import type * as Source from "../transport/Source.ts"
import type * as Transport from "../transport/Transport.ts"

/** What can be said to Anthropic. */
export const capabilities: Capabilities = AnthropicMessages.capabilities

/** What is good to know. */
export const quirks: ReadonlyArray<string> = [
  "A longest reply is demanded: 8192 tokens unless `maxTokens` says otherwise, more where the model is to think.",
  "`reasoning` is a budget in tokens for models up to Claude 4.6, and an effort for models from Claude 4.6 on.",
  "A request that forces a call is sent without thinking, which would be refused.",
  "Nothing is cached unless `promptCache` asks for it.",
  "Messages of the system go to the top, wherever they stand: one that comes later costs the cache.",
  "Files are PDF or text; only PDF is fetched from an address.",
  "The schema of an output that is a record, recursive or no object is told in words.",
  "Ids of calls that others made are rewritten where they repeat, are longer than 64 characters, or hold others than letters, digits, `_` and `-`.",
  "A refusal is a `ContentFilteredError`; a full context window ends a reply like its longest length."
]

/** `baseUrl` is `https://api.anthropic.com` by default. */
export interface Options extends AnthropicMessages.Parameters, ByName.Reach {
  /** Of the interface; `2023-06-01` by default. */
  readonly version?: string
  /** What of the interface is still tried out, and wanted here: the values of the header `anthropic-beta`. */
  readonly betas?: ReadonlyArray<string>
}

/** What the layer needs besides the options. */
export interface LayerOptions extends Options {
  readonly model: string
  readonly apiKey: Redacted.Redacted
}

/**
 * The model behind an `HttpClient` of yours: its limits for connecting, its proxy, its certificates. Redirects are its
 * business; `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = "https://api.anthropic.com", betas = [], headers, model, transport, version } = options
  const source: Source.Source = {
    provider: "anthropic",
    model,
    secrets: [apiKey, ...ByName.secretsOf(headers, baseUrl)]
  }
  return Provider.layer({
    source,
    codec: AnthropicMessages.make(source, options),
    url: ByName.join(baseUrl, "/v1/messages"),
    headers: {
      "x-api-key": Redacted.make(Redacted.value(apiKey).trim()),
      "anthropic-version": version ?? "2023-06-01",
      ...(betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") }),
      ...headers
    },
    ...(transport === undefined ? {} : { transport })
  })
}

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `ANTHROPIC_API_KEY`, the base URL, unless given, from
 * `ANTHROPIC_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.layer({ apiKey: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL" }, options, ({ apiKey, baseUrl }) =>
    layer({ ...options, ...(baseUrl === undefined ? {} : { baseUrl }), model: name, apiKey })
  )
