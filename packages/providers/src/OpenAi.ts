/** OpenAI, and every server that speaks its chat completions, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as OpenAiChat from "./OpenAiChat.ts"
import * as Provider from "./Provider.ts"
import type * as Source from "./Source.ts"
import * as Transport from "./Transport.ts"

export interface Options extends OpenAiChat.Parameters {
  /** Up to, and without, `/chat/completions`; `https://api.openai.com/v1` by default. */
  readonly baseUrl?: string
  readonly organization?: string
  readonly project?: string
  /** Sent with every request, for proxies and gateways; what must not be seen is `Redacted`. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
  readonly transport?: Transport.Options
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
  const { apiKey, baseUrl, headers = {}, model, organization, project, transport } = options
  const source: Source.Source = {
    provider: "openai",
    model,
    secrets: [apiKey, ...Object.values(headers).filter(isSecret)]
  }
  return Provider.layer({
    source,
    codec: OpenAiChat.make(source, options),
    url: `${(baseUrl ?? "https://api.openai.com/v1").replace(/\/+$/, "")}/chat/completions`,
    headers: {
      authorization: Redacted.make(`Bearer ${Redacted.value(apiKey).trim()}`),
      ...(organization === undefined ? {} : { "openai-organization": organization }),
      ...(project === undefined ? {} : { "openai-project": project }),
      ...headers
    },
    ...(transport === undefined ? {} : { transport })
  })
}

const isSecret = (header: string | Redacted.Redacted): header is Redacted.Redacted => Redacted.isRedacted(header)

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `OPENAI_API_KEY`, the base URL, unless given, from
 * `OPENAI_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const apiKey = yield* Config.schema(Schema.Redacted(Schema.NonEmptyString), "OPENAI_API_KEY")
      const fromEnvironment = Option.getOrElse(yield* Config.option(Config.String("OPENAI_BASE_URL")), () => "")
      const baseUrl = options?.baseUrl ?? (fromEnvironment === "" ? undefined : fromEnvironment)
      return layer({ ...options, ...(baseUrl === undefined ? {} : { baseUrl }), model: name, apiKey })
    })
  ).pipe(Layer.provide(Transport.layerFetch))
