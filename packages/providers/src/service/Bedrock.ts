/** Models of Amazon Bedrock by its Converse API, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as BedrockConverse from "../codec/bedrock/BedrockConverse.ts"
import { fitting } from "../codec/Fitting.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import type { BedrockParameters } from "../codec/Parameters.ts"
import type * as Source from "../transport/Source.ts"
import * as Transport from "../transport/Transport.ts"
import * as Aws from "./aws.ts"
import * as ByName from "./byName.ts"
import * as PathSegment from "./pathSegment.ts"
import * as Prices from "./prices.ts"
import * as Provider from "./Provider.ts"

export type { Credentials } from "./aws.ts"

/** `baseUrl` is `https://bedrock-runtime.REGION.amazonaws.com` by default. */
export interface Options extends BedrockParameters, ByName.Reach {
  /** The region of the model, and of the signature, such as `us-east-1`. */
  readonly region?: string
  /**
   * The key that signs each send, or an effect that is asked for it at each send: for credentials that expire, as those of STS. Cache
   * it as long as they hold, with `Effect.cachedWithTTL`. A failure of the effect is an `AuthenticationError`.
   */
  readonly credentials?: Aws.Credentials | Effect.Effect<Aws.Credentials, unknown>
}

/** The options, with model, region and credentials. */
interface LayerOptions extends Options {
  readonly region: string
  readonly credentials: Aws.Credentials | Effect.Effect<Aws.Credentials, unknown>
  /** The id of a model or of an inference profile, or its ARN: `us.anthropic.claude-sonnet-4-6`. */
  readonly model: string
}

/**
 * The model over your own `HttpClient`. The packages `@smithy/signature-v4`, `@smithy/eventstream-codec` and `@aws-crypto/sha256-js` have
 * to be installed. Throws a `RangeError` for a region that is no name, and for invalid options.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { baseUrl, credentials, headers, model, price, region, transport } = options
  if (!/^[a-z0-9-]+$/.test(region))
    throw new RangeError(`Bedrock: region must be a name as 'us-east-1', got '${region}'`)
  const base = baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`
  const source: Source.Source = {
    provider: options.host ?? "bedrock",
    model,
    secrets: [
      ...(Effect.isEffect(credentials) ? [] : [credentials.secretAccessKey, credentials.sessionToken ?? []].flat()),
      ...ByName.secretsOf(undefined, headers, base)
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
  // invalid options are refused at once
  Transport.explain(transport)
  const provider = {
    source,
    codec: segment === undefined ? PathSegment.refusing(codec, source) : codec,
    url: ByName.join(base, `/model/${segment ?? "-"}/converse`),
    streamUrl: ByName.join(base, `/model/${segment ?? "-"}/converse-stream`),
    headers: headers ?? {},
    price: Prices.of([], { baseUrl: base, price }, base, model),
    ...(transport === undefined ? {} : { transport })
  }
  return Layer.unwrap(
    Effect.map(Aws.load(), (packages) =>
      Provider.layer({
        ...provider,
        headersOf: Aws.signing(packages, source, { region, service: "bedrock" }, credentials),
        frame: Aws.frames(packages)
      })
    )
  )
}

/**
 * The model over your own `HttpClient`, with options that may be `Config`s. They are read when the layer is built. What is not given comes from
 * `AWS_REGION`, or else from `AWS_DEFAULT_REGION`, from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, and from
 * `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`. A missing region or key is a `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & Pick<LayerOptions, "model">>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const given = yield* ByName.resolved<Options & Pick<LayerOptions, "model">>(options)
      const credentials = given.credentials ?? (yield* credentialsIn)
      const region = given.region ?? (yield* ByName.text(["AWS_REGION", "AWS_DEFAULT_REGION"]))
      const baseUrl = given.baseUrl ?? (yield* ByName.read("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"))
      return layer({ ...given, region, credentials, ...(baseUrl === "" ? {} : { baseUrl }) })
    })
  )

/** The key of the environment. */
const credentialsIn: Effect.Effect<Aws.Credentials, Config.ConfigError> = Effect.gen(function* () {
  const accessKeyId = yield* ByName.text("AWS_ACCESS_KEY_ID")
  const secretAccessKey = Redacted.make(yield* ByName.text("AWS_SECRET_ACCESS_KEY"))
  const token = yield* ByName.read("AWS_SESSION_TOKEN")
  return { accessKeyId, secretAccessKey, ...(token === "" ? {} : { sessionToken: Redacted.make(token) }) }
})

/**
 * The model by name, as `layerConfig` makes it, over the `HttpClient` of the context if there is one, else over the runtime's own `fetch`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))
