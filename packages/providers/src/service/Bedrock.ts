/** Amazon Bedrock's Converse API as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as BedrockConverse from "../codec/bedrock/BedrockConverse.ts"
import { fitting } from "../codec/Fitting.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import type { BedrockParameters } from "../codec/Parameters.ts"
import type { Secret } from "../transport/Header.ts"
import type * as Source from "../transport/Source.ts"
import * as Transport from "../transport/Transport.ts"
import * as Aws from "./aws.ts"
import * as Frames from "../transport/Frames.ts"
import * as ByName from "./byName.ts"
import * as PathSegment from "./pathSegment.ts"
import * as Prices from "./prices.ts"
import * as Provider from "./Provider.ts"

export type { Credentials } from "./aws.ts"

/** Options of Amazon Bedrock's Converse API. `baseUrl` is `https://bedrock-runtime.REGION.amazonaws.com` by default. */
export interface Options extends BedrockParameters, ByName.Reach {
  /** The AWS region that serves the model, and for which requests are signed, such as `us-east-1`. */
  readonly region?: string
  /**
   * The AWS credentials that sign each send, or an effect that gives them before each send, for temporary ones such as those of STS. Cache
   * that effect while the credentials are valid, with `Effect.cachedWithTTL`. If it fails, the call fails with an `AuthenticationError`.
   */
  readonly credentials?: Aws.Credentials | Effect.Effect<Aws.Credentials, unknown>
  /**
   * An API key of Bedrock, or an effect that gives it before each send. It is sent as a bearer token, and requests are not signed, even if
   * `credentials` are given too (docs.aws.amazon.com/bedrock/latest/userguide, "API keys", looked up on 2026-11-26).
   */
  readonly apiKey?: Secret
}

interface Named {
  /** The id of a model or of an inference profile, or its ARN: `us.anthropic.claude-sonnet-4-6`. */
  readonly model: string
}

/** The options of `layer`, which also need the model, the region, and either credentials or an API key. */
type LayerOptions = Omit<Options, "credentials" | "apiKey"> &
  Named & { readonly region: string } & (
    | { readonly credentials: NonNullable<Options["credentials"]>; readonly apiKey?: never }
    | { readonly apiKey: Secret; readonly credentials?: never }
  )

/**
 * A model over your own `HttpClient`. The packages `@smithy/signature-v4`, `@smithy/eventstream-codec` and `@aws-crypto/sha256-js` have to
 * be installed; with an API key, `@smithy/eventstream-codec` alone. Throws a `RangeError` for a region that is no name, and for invalid
 * options.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl, credentials, headers, model, region, transport } = options
  if (!/^[a-z0-9-]+$/.test(region))
    throw new RangeError(`Bedrock: region must be a name as 'us-east-1', got '${region}'`)
  const own = `https://bedrock-runtime.${region}.amazonaws.com`
  const base = baseUrl ?? own
  const source: Source.Source = {
    provider: options.host ?? "bedrock",
    model,
    secrets: [
      ...(credentials === undefined || Effect.isEffect(credentials)
        ? []
        : [credentials.secretAccessKey, credentials.sessionToken ?? []].flat()),
      ...ByName.secretsOf(apiKey, headers, base)
    ]
  }
  const segment = PathSegment.segment(model)
  const codec = fitting(
    source,
    options,
    model.includes("claude") ? ModelFamilies.claude : ModelFamilies.none,
    (asked, able) => BedrockConverse.make(source, asked, able),
    { output: "none", continuation: "none" }
  )
  // throws for invalid options when the layer is made, not at the first call
  Transport.explain(transport)
  const provider = {
    source,
    codec: segment === undefined ? PathSegment.refusing(codec, source) : codec,
    url: ByName.join(base, `/model/${segment ?? "-"}/converse`),
    streamUrl: ByName.join(base, `/model/${segment ?? "-"}/converse-stream`),
    headers: { ...(apiKey === undefined ? {} : ByName.bearer(apiKey)), ...headers },
    price: Prices.cached(Prices.ofBedrock({ ...options, baseUrl: base }, own, model), options),
    transport
  }
  if (credentials === undefined || apiKey !== undefined) {
    return Layer.unwrap(
      Effect.map(Aws.loadReading(), (packages) =>
        Provider.layer({ ...provider, framing: Frames.framing(Aws.frames(packages)) })
      )
    )
  }
  return Layer.unwrap(
    Effect.map(Aws.load(), (packages) =>
      Provider.layer({
        ...provider,
        headersOf: Aws.signing(packages, source, { region, service: "bedrock" }, credentials),
        framing: Frames.framing(Aws.frames(packages))
      })
    )
  )
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. What is not given comes from `AWS_REGION`, or else from `AWS_DEFAULT_REGION`, from `AWS_BEARER_TOKEN_BEDROCK`, or else from
 * `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, and from `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`. A missing region or
 * key is a `ConfigError`, and so is an option out of its range. Of a given API key and given credentials, the API key counts.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { apiKey, credentials, ...given } = yield* ByName.resolved<Options & Named>(options)
      const access = apiKey !== undefined ? { apiKey } : credentials !== undefined ? { credentials } : yield* accessIn
      const region = given.region ?? (yield* ByName.text(["AWS_REGION", "AWS_DEFAULT_REGION"]))
      const baseUrl = given.baseUrl ?? (yield* ByName.read("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"))
      return yield* ByName.made(() => layer({ ...given, region, ...access, ...(baseUrl === "" ? {} : { baseUrl }) }))
    })
  )

/** Reads the access from environment variables. An API key has precedence over an access key, as in the SDKs of AWS. */
const accessIn = Effect.gen(function* () {
  const apiKey = yield* ByName.read("AWS_BEARER_TOKEN_BEDROCK")
  if (apiKey !== "") return { apiKey: Redacted.make(apiKey) }
  const accessKeyId = yield* ByName.text("AWS_ACCESS_KEY_ID")
  const secretAccessKey = Redacted.make(yield* ByName.text("AWS_SECRET_ACCESS_KEY"))
  const token = yield* ByName.read("AWS_SESSION_TOKEN")
  const session = token === "" ? {} : { sessionToken: Redacted.make(token) }
  return { credentials: { accessKeyId, secretAccessKey, ...session } }
})

/**
 * A model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings come as in
 * `layerConfig`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
