/** OpenAI, and every server that speaks its chat completions, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as ByName from "./internal/byName.ts"
import * as OpenAiChat from "./OpenAiChat.ts"
import * as Provider from "./Provider.ts"
import type * as Source from "./Source.ts"
import type * as Transport from "./Transport.ts"

/** `baseUrl` is `https://api.openai.com/v1` by default. */
export interface Options extends OpenAiChat.Parameters, ByName.Reach {
  readonly organization?: string
  readonly project?: string
}

export interface LayerOptions extends Options {
  readonly model: string
  readonly apiKey: Redacted.Redacted
}

/**
 * The model behind an `HttpClient` of yours: its limits for connecting, its proxy, its certificates. Redirects are its
 * business; `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = "https://api.openai.com/v1", headers, model, organization, project, transport } = options
  const source: Source.Source = { provider: "openai", model, secrets: [apiKey, ...ByName.secretsOf(headers)] }
  return Provider.layer({
    source,
    codec: OpenAiChat.make(source, options),
    url: ByName.join(baseUrl, "/chat/completions"),
    headers: {
      authorization: Redacted.make(`Bearer ${Redacted.value(apiKey).trim()}`),
      ...(organization === undefined ? {} : { "openai-organization": organization }),
      ...(project === undefined ? {} : { "openai-project": project }),
      ...headers
    },
    ...(transport === undefined ? {} : { transport })
  })
}

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `OPENAI_API_KEY`, the base URL, unless given, from
 * `OPENAI_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.layer({ apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" }, options, ({ apiKey, baseUrl }) =>
    layer({ ...options, ...(baseUrl === undefined ? {} : { baseUrl }), model: name, apiKey })
  )
