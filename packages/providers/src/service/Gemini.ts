/** Google's Gemini API as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as GeminiContent from "../codec/gemini/GeminiContent.ts"
import type { GeminiParameters } from "../codec/Parameters.ts"
import { fitting } from "../codec/Fitting.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import * as ByName from "./byName.ts"
import * as Counting from "./counting.ts"
import * as PathSegment from "./pathSegment.ts"
import * as Prices from "./prices.ts"
import * as Provider from "./Provider.ts"
import type { Secret } from "../transport/Header.ts"
import type * as Source from "../transport/Source.ts"
import type * as Transport from "../transport/Transport.ts"

/** Options of the Gemini API. `baseUrl` is `https://generativelanguage.googleapis.com/v1beta` by default. */
export interface Options extends GeminiParameters, ByName.Reach {
  /** Whether the API key is sent as a bearer token, as Vertex requires, instead of in the header `x-goog-api-key`. `false` by default. */
  readonly bearer?: boolean
}

/** The options of `layer`, which also need the model and its API key. */
interface LayerOptions extends Options {
  /**
   * The model's name, such as `gemini-3.8-flash`, or with its collection, such as `tunedModels/my-model`. The name is one path segment: any
   * other slash is escaped. A name that cannot be escaped, such as `..`, makes each call fail with an `InvalidRequestError`.
   */
  readonly model: string
  /**
   * The API key, or an effect that gives it. The effect runs before each send, for tokens that expire; if it fails, the call fails with an
   * `AuthenticationError`.
   */
  readonly apiKey: Secret
}

const variables = { apiKey: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], baseUrl: "GEMINI_BASE_URL" }

/** The base URL of Google's Gemini API itself. */
const own = "https://generativelanguage.googleapis.com/v1beta"

/** A model over your own `HttpClient`. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = own, headers, model, transport } = options
  const source: Source.Source = {
    provider: options.host ?? "gemini",
    model,
    secrets: ByName.secretsOf(apiKey, headers, baseUrl)
  }
  // Mutant `["Stryker was here"]` survives: the first element is not read
  const [, collection = "models", name = model] = /^(models|tunedModels)\/(.*)/s.exec(model) ?? []
  const segment = PathSegment.segment(name)
  const path = `${collection}/${segment ?? "-"}`
  const codec = fitting(source, options, ModelFamilies.gemini, (asked, able) => GeminiContent.make(source, asked, able))
  return Provider.layer({
    source,
    codec: segment === undefined ? PathSegment.refusing(codec, source) : codec,
    url: ByName.join(baseUrl, `/${path}:generateContent`),
    counting: Counting.ofContent(ByName.join(baseUrl, `/${path}:countTokens`), path),
    price: Prices.of(Prices.gemini, { ...options, baseUrl }, own, name),
    streamUrl: ByName.join(baseUrl, `/${path}:streamGenerateContent?alt=sse`),
    headers: {
      ...(options.bearer === true
        ? ByName.bearer(apiKey)
        : { "x-goog-api-key": ByName.keyHeader(apiKey, (key) => key) }),
      ...headers
    },
    transport
  })
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `GEMINI_API_KEY`, or else from `GOOGLE_API_KEY`, and the base URL from `GEMINI_BASE_URL`, if that
 * is set; a missing key is a `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & ByName.Named>(variables, options, layer)

/**
 * A model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as in
 * `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
