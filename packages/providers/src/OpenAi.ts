/**
 * OpenAI as a `Model`, through its chat completions, which many other servers speak too, or through its responses, which keep
 * the reasoning of a model from one turn to the next.
 */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Codec } from "./Codec.ts"
import * as ByName from "./internal/byName.ts"
import * as OpenAiChat from "./OpenAiChat.ts"
import * as OpenAiResponses from "./OpenAiResponses.ts"
import * as Provider from "./Provider.ts"
import type * as Source from "./Source.ts"
import type * as Transport from "./Transport.ts"

/** `baseUrl` is `https://api.openai.com/v1` by default. */
export interface Options extends OpenAiChat.Parameters, Account {}

/** `baseUrl` is `https://api.openai.com/v1` by default. */
export interface ResponsesOptions extends OpenAiResponses.Parameters, Account {}

/** Who asks, and where. */
export interface Account extends ByName.Reach {
  readonly organization?: string
  readonly project?: string
}

/** Which model, and with which key. */
export interface Access {
  readonly model: string
  readonly apiKey: Redacted.Redacted
}

export interface LayerOptions extends Options, Access {}

export interface LayerResponsesOptions extends ResponsesOptions, Access {}

/**
 * The model behind an `HttpClient` of yours: its limits for connecting, its proxy, its certificates. Redirects are its
 * business; `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  at("/chat/completions", options, (source) => OpenAiChat.make(source, options))

/** The same, through the responses. */
export const layerResponses = (options: LayerResponsesOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  at("/responses", options, (source) => OpenAiResponses.make(source, options))

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `OPENAI_API_KEY`, the base URL, unless given, from
 * `OPENAI_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.layer(variables, options, ({ apiKey, baseUrl }) =>
    layer({ ...options, ...(baseUrl === undefined ? {} : { baseUrl }), model: name, apiKey })
  )

/** The model by name, through the responses; key and base URL come from the same variables. */
export const responses = (name: string, options?: ResponsesOptions): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.layer(variables, options, ({ apiKey, baseUrl }) =>
    layerResponses({ ...options, ...(baseUrl === undefined ? {} : { baseUrl }), model: name, apiKey })
  )

const variables = { apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" }

const at = (
  path: string,
  { apiKey, baseUrl = "https://api.openai.com/v1", headers, model, organization, project, transport }: Account & Access,
  codec: (source: Source.Source) => Codec
): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const source: Source.Source = { provider: "openai", model, secrets: [apiKey, ...ByName.secretsOf(headers)] }
  return Provider.layer({
    source,
    codec: codec(source),
    url: ByName.join(baseUrl, path),
    headers: {
      authorization: Redacted.make(`Bearer ${Redacted.value(apiKey).trim()}`),
      ...(organization === undefined ? {} : { "openai-organization": organization }),
      ...(project === undefined ? {} : { "openai-project": project }),
      ...headers
    },
    ...(transport === undefined ? {} : { transport })
  })
}
