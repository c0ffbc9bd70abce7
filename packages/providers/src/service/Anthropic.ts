/** Anthropic, and other servers of its Messages API, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as AnthropicMessages from "../codec/anthropic/AnthropicMessages.ts"
import type { Codec } from "../codec/Codec.ts"
import type { AnthropicParameters } from "../codec/Parameters.ts"
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

/**
 * The beta header of the Files API. Requests that name a stored file have this header, and no others. Anthropic itself does not need it
 * since 2026-08-20 (`anthropic-sdk-python` 1.2.0 of 2026-08-27 no longer sends it), but gateways and other hosts do (portkey.ai, "Files",
 * of 2026-09-15). Looked up on 2026-11-26.
 */
const filesBeta = "files-api-2025-04-14"

/** Options of Anthropic's Messages API. `baseUrl` is `https://api.anthropic.com` by default. */
export interface Options extends AnthropicParameters, ByName.Reach {
  /** The version of the API. By default `2023-06-01`, and `vertex-2023-10-16` with `vertex`. */
  readonly version?: string
  /** Beta features to enable: the values of the header `anthropic-beta`. */
  readonly betas?: ReadonlyArray<string>
  /**
   * Whether the API key is sent as a bearer token instead of in the header `x-api-key`, because some hosts require it. `false` by default,
   * `true` with `vertex`.
   */
  readonly bearer?: boolean
  /**
   * Whether the server is Google's Vertex: the model is in the path, and the version in the body. `baseUrl` is then
   * `https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/anthropic`, and `host` is
   * `vertex` by default. `false` by default.
   */
  readonly vertex?: boolean
}

/** The options of `layer`, which also need the model and its API key. */
interface LayerOptions extends Options {
  readonly model: string
  /**
   * The API key, or an effect that gives it. The effect runs before each send, for tokens that expire; if it fails, the call fails with an
   * `AuthenticationError`.
   */
  readonly apiKey: Secret
}

const variables = { apiKey: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL" }

/** The base URL of Anthropic itself. */
const own = "https://api.anthropic.com"

/**
 * A model over your own `HttpClient`. The client has its own connect timeout, proxy and certificates, and decides about redirects;
 * `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = own, betas = [], headers, model, transport, version } = options
  const isVertex = options.vertex === true
  const source: Source.Source = {
    provider: options.host ?? (isVertex ? "vertex" : "anthropic"),
    model,
    secrets: ByName.secretsOf(apiKey, headers, baseUrl)
  }
  const codec = fitting(
    source,
    options,
    ModelFamilies.claude,
    (asked, able) => AnthropicMessages.make(source, asked, able),
    isInterleaved(options) ? { budgetWithinMaxTokens: false } : {},
    AnthropicMessages.answersPlainCalls(source)
  )
  return Provider.layer({
    source,
    ...(isVertex
      ? onVertex(codec, source, baseUrl, version)
      : {
          codec,
          url: ByName.join(baseUrl, "/v1/messages"),
          counting: Counting.ofMessages(ByName.join(baseUrl, "/v1/messages/count_tokens"))
        }),
    price: Prices.cached(Prices.of(Prices.anthropic, { ...options, baseUrl }, own, model), options),
    headers: {
      ...((options.bearer ?? isVertex)
        ? ByName.bearer(apiKey)
        : { "x-api-key": ByName.keyHeader(apiKey, (key) => key) }),
      ...(isVertex ? {} : { "anthropic-version": version ?? "2023-06-01" }),
      ...(betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") }),
      ...headers
    },
    headersFor: {
      applies: AnthropicMessages.namesFile(),
      headers: { "anthropic-beta": [...new Set([...betas, filesBeta])].join(","), ...headers }
    },
    transport
  })
}

/**
 * Whether the options enable interleaved thinking. Then a thinking budget covers all thoughts of a turn, and may exceed `max_tokens`
 * (docs.anthropic.com, "Extended thinking", "Interleaved thinking", looked up on 2026-11-26). It applies only to a `reasoning` given as an
 * object: a budget computed from an effort stays below `max_tokens`, for models without this feature.
 */
// Mutant `["Stryker was here"]` survives: no beta has this name
const isInterleaved = ({ betas = [], headers = {}, reasoning }: Options): boolean =>
  Predicate.isObject(reasoning) &&
  [...betas, ...Object.values(headers)].some(
    (value) => Predicate.isString(value) && value.includes("interleaved-thinking-")
  )

/**
 * The URLs and the codec for Claude on Google's Vertex. The model is in the path, and the body has `anthropic_version` instead of `model`.
 * Looked up on 2026-11-26 in public clients (tensorzero, `gcp_vertex_anthropic`), because Google's own page could not be read.
 */
const onVertex = (codec: Codec, source: Source.Source, baseUrl: string, version = "vertex-2023-10-16") => {
  const segment = PathSegment.segment(source.model)
  const path = `/models/${segment ?? "-"}`
  const inPath: Codec = {
    ...codec,
    encode: (request, mode) => {
      // the codec always encodes a JSON object
      const { model: _, ...body } = JSON.parse(codec.encode(request, mode)) as Readonly<Record<string, unknown>>
      return JSON.stringify({ anthropic_version: version, ...body })
    }
  }
  return {
    codec: segment === undefined ? PathSegment.refusing(codec, source) : inPath,
    url: ByName.join(baseUrl, `${path}:rawPredict`),
    streamUrl: ByName.join(baseUrl, `${path}:streamRawPredict`)
  }
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `ANTHROPIC_API_KEY`, and the base URL from `ANTHROPIC_BASE_URL`, if that is set; a missing key is
 * a `ConfigError`.
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
