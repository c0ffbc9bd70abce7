/** An Ollama server, local or remote, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { OllamaParameters } from "../codec/Parameters.ts"
import * as ByName from "./byName.ts"
import * as OllamaChat from "../codec/ollama/OllamaChat.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import { fitting } from "../codec/Fitting.ts"
import * as Prices from "./prices.ts"
import * as Provider from "./Provider.ts"
import type { Secret } from "../transport/Header.ts"
import type * as Source from "../transport/Source.ts"
import type * as Transport from "../transport/Transport.ts"

/** Options of Ollama's chat API. `baseUrl` is `http://localhost:11434` by default. */
export interface Options extends OllamaParameters, ByName.Reach {
  /** The API key. `https://ollama.com` needs one, a local server does not. */
  readonly apiKey?: Secret
}

/** The options of `layer`, which also need the model. */
interface LayerOptions extends Options {
  readonly model: string
}

/** A model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = "http://localhost:11434", headers, model, price, transport } = options
  const secrets = ByName.secretsOf(apiKey, headers, baseUrl)
  const source: Source.Source = { provider: options.host ?? "ollama", model, secrets }
  return Provider.layer({
    source,
    codec: fitting(source, options, ModelFamilies.none, (asked, able) => OllamaChat.make(source, asked, able)),
    url: ByName.join(baseUrl, "/api/chat"),
    price: Prices.ofServer({ baseUrl, price }, model),
    headers: { ...(apiKey === undefined ? {} : ByName.bearer(apiKey)), ...headers },
    transport
  })
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. The base URL, unless given, comes from `OLLAMA_BASE_URL`, or else from `OLLAMA_HOST`, in all the forms that Ollama itself takes
 * there (`127.0.0.1`, `:11434`, `https://example.org`); a key, unless given, from `OLLAMA_API_KEY`, if that is set.
 */
export const layerConfig = (
  options: ByName.FromConfig<LayerOptions>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<LayerOptions>(
    { baseUrl: ["OLLAMA_BASE_URL", "OLLAMA_HOST"] },
    { apiKey: key, ...options },
    ({ baseUrl, ...rest }) => layer({ ...rest, ...(baseUrl === undefined ? {} : { baseUrl: urlOf(baseUrl) }) })
  )

const key = Config.map(Config.withDefault(Config.String("OLLAMA_API_KEY"), ""), (key) => Redacted.make(key))

/**
 * A model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as in
 * `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))

/**
 * Makes a URL of Ollama's `OLLAMA_HOST` variable, which may lack the scheme or the port. `0.0.0.0` means "listen on all addresses", so a
 * client uses `localhost` instead.
 */
const urlOf = (host: string): string => {
  const trimmed = host.trim()
  const scheme = /^https?:\/\//i.exec(trimmed)?.[0]
  // Mutants `"Stryker was here!"`, `["Stryker was here"]` survive: the pattern matches every text
  const [, authority = "", rest = ""] = /^([^/?#]*)(.*)$/s.exec(trimmed.slice(scheme?.length ?? 0)) ?? []
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(authority) ?? [authority, authority]
  const reachable = name === "" || name === "0.0.0.0" || name === "[::]" ? "localhost" : name
  return `${scheme ?? "http://"}${reachable}${port ?? (scheme === undefined ? ":11434" : "")}${rest}`
}
