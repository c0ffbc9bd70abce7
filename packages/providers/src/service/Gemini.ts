/** Gemini, over Google's Gemini API, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as GeminiContent from "../codec/gemini/GeminiContent.ts"
import * as ByName from "./byName.ts"
import * as PathSegment from "./pathSegment.ts"
import * as Provider from "./Provider.ts"
import type * as Source from "../transport/Source.ts"
import type * as Transport from "../transport/Transport.ts"

/** `baseUrl` is `https://generativelanguage.googleapis.com/v1beta` by default. */
export interface Options extends GeminiContent.Parameters, ByName.Reach {}

/** The options, with model and key. */
export interface LayerOptions extends Options {
  /**
   * `gemini-2.5-flash`, or with its collection, `tunedModels/my-model`. It is one segment of the path: any other slash is escaped, and a
   * name that no escape makes a segment, as `..`, is an `InvalidRequestError` of each call.
   */
  readonly model: string
  readonly apiKey: Redacted.Redacted
}

/** What can be said to Gemini. */
export const capabilities = GeminiContent.capabilities

/** What is worth knowing of it. */
export const quirks: ReadonlyArray<string> = [
  "Signatures of thoughts are kept and sent back on the part that they came with; Gemini 3 refuses calls without them.",
  "Models before Gemini 3 take no schema for the answer beside tools: beside them it is told in words.",
  "System messages are joined into the system instruction, wherever they stand in the conversation.",
  "Efforts are levels, which Gemini 2.5 does not know: there they are sent as budgets.",
  "A call that Gemini rejects ends the reply, and goes to the rows of its tool.",
  "An image or file at an address is fetched by Google, which takes its own file addresses and some public ones."
]

/** The model behind an `HttpClient` of yours. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = "https://generativelanguage.googleapis.com/v1beta", headers, model, transport } = options
  const source: Source.Source = { provider: "gemini", model, secrets: [apiKey, ...ByName.secretsOf(headers, baseUrl)] }
  const [, collection = "models", name = model] = /^(models|tunedModels)\/(.*)$/s.exec(model) ?? []
  const segment = PathSegment.segment(name)
  const path = `${collection}/${segment ?? "-"}`
  const codec = GeminiContent.make(source, options)
  return Provider.layer({
    source,
    codec: segment === undefined ? PathSegment.refusing(codec, source) : codec,
    url: ByName.join(baseUrl, `/${path}:generateContent`),
    streamUrl: ByName.join(baseUrl, `/${path}:streamGenerateContent?alt=sse`),
    headers: { "x-goog-api-key": Redacted.make(Redacted.value(apiKey).trim()), ...headers },
    ...(transport === undefined ? {} : { transport })
  })
}

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `GEMINI_API_KEY`, or else from `GOOGLE_API_KEY`, the
 * base URL, unless given, from `GEMINI_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.layer(
    { apiKey: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], baseUrl: "GEMINI_BASE_URL" },
    options,
    ({ apiKey, baseUrl }) => layer({ ...options, ...(baseUrl === undefined ? {} : { baseUrl }), model: name, apiKey })
  )
