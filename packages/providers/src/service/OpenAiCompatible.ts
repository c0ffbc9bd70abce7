/**
 * Other hosts of OpenAI's two formats, as a `Model`. A host is one of `hosts`, by its name, or any other host, as data. Errors, spans and
 * the ledger name the host.
 *
 * A host that has a module of its own (`DeepSeek`, `Kimi`, `OpenRouter`, `Perplexity`, `Ollama`) is better served by that.
 */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Dialect } from "../codec/openai-chat/OpenAiChat.ts"
import type { ChatParameters, ResponsesParameters } from "../codec/Parameters.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import type { Secret } from "../transport/Header.ts"
import type * as Transport from "../transport/Transport.ts"
import * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import { type Host, hosts } from "./hosts.ts"
import * as OpenAi from "./OpenAi.ts"
import * as Prices from "./prices.ts"

export { type Host, hosts } from "./hosts.ts"

/** The name of a host in `hosts`, or a host of your own. */
type HostInput = keyof typeof hosts | Host

/**
 * Options of a request to a host, and of its address. `maxTokensField`, `streamOptions` and `strict` override the known facts about the
 * host: the name of the field for `maxTokens`, whether a streamed request asks for usage, and whether schemas are sent as strict.
 */
export interface Options
  extends
    Omit<ChatParameters, "providerTools">,
    ByName.Reach,
    Pick<Dialect, "maxTokensField" | "streamOptions" | "strict"> {}

/** The hosts without a default base URL, because theirs contains your account or your region. */
type Regional = {
  readonly [Name in keyof typeof hosts]: (typeof hosts)[Name] extends { readonly baseUrl: string } ? never : Name
}[keyof typeof hosts]

/** The options that become required for a host: a host with your account or region in its URL requires `baseUrl`. */
type Needed<Input> = Input extends Regional ? { readonly baseUrl: string } : unknown

type ResponsesOptions = ResponsesParameters & ByName.Reach

interface Chosen {
  readonly model: string
  /** The API key; absent if the host needs none. An effect runs before each send, for tokens that expire. */
  readonly apiKey?: Secret
}

/** Looks up a host by its name. An unknown name throws, because JavaScript programs may pass any name. */
const of = (host: HostInput): Host => {
  if (typeof host !== "string") return host
  if (Object.hasOwn(hosts, host)) return hosts[host]
  throw new TypeError(`OpenAiCompatible: no host is named '${host as string}'`)
}

const none = Redacted.make("")

/**
 * The chat completions of a host over your own `HttpClient`.
 *
 * @example
 * ```ts no-run
 * import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
 * import { Effect, Redacted } from "effect"
 *
 * declare const token: Effect.Effect<Redacted.Redacted>
 *
 * export const azure = OpenAiCompatible.layer("azure", {
 *   model: "my-deployment",
 *   baseUrl: "https://my-resource.openai.azure.com/openai/v1",
 *   apiKey: token // asked with each send
 * })
 * ```
 */
export const layer = <Input extends HostInput>(
  host: Input,
  asked: Options & Chosen & Needed<Input>
): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { baseUrl = "", dialect, prices = [], provider, takes, variables } = of(host)
  const { maxTokensField, streamOptions, strict, ...options }: Options & Chosen = asked
  const own = { maxTokensField, streamOptions, strict }
  const overrides = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  return ChatProvider.layer(
    {
      provider,
      baseUrl,
      variables,
      dialect: { ...dialect, ...overrides },
      catalog: ModelFamilies.openAi,
      prices,
      takes
    },
    { apiKey: none, ...options }
  )
}

/** The Responses API of a host over your own `HttpClient`. */
export const layerResponses = <Input extends HostInput>(
  host: Input,
  options: ResponsesOptions & Chosen & Needed<Input>
): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  // Mutant `"Stryker was here!"` survives: of a host without a base URL, the options have it
  const { baseUrl = "", dialect, prices = [], provider } = of(host)
  const price = Prices.of(prices, { baseUrl, ...options }, baseUrl, options.model)
  // Mutant `false` survives: an undefined price is none
  const priced = price === undefined ? {} : { price }
  const strict = dialect.strict === true
  return OpenAi.layerResponses({ apiKey: none, host: provider, baseUrl, strict, ...options, ...priced })
}

/**
 * The chat completions of a host, with options from `Config`. It sends over your own `HttpClient`. An option is a value or a `Config`,
 * which the layer reads when it is built. Unless given, key and base URL come from the variables of the host: `MISTRAL_API_KEY` and
 * `MISTRAL_BASE_URL`. A missing key is a `ConfigError`, and so is a missing base URL that has the account or the region in it.
 */
export const layerConfig = (
  host: HostInput,
  options: ByName.FromConfig<Options & Chosen>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & Chosen>(of(host).variables, options, (options) => layer(host, options))

/** The Responses API of a host, with options from `Config`. They are read as in `layerConfig`; it sends over your own `HttpClient`. */
export const layerResponsesConfig = (
  host: HostInput,
  options: ByName.FromConfig<ResponsesOptions & Chosen>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<ResponsesOptions & Chosen>(of(host).variables, options, (options) => layerResponses(host, options))

/**
 * The chat completions of a host, by name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings
 * come as in `layerConfig`.
 *
 * @example
 * ```ts no-run
 * import { Agent } from "@kintsugi/core"
 * import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
 *
 * export const clerk = Agent.make("clerk", { model: OpenAiCompatible.model("mistral", "mistral-small-latest") })
 * ```
 */
export const model = (host: HostInput, name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig(host, { ...options, model: name }))

/**
 * The Responses API of a host, by name. It sends as `model` does; the settings come as in `layerResponsesConfig`. The key and base URL come
 * from the same variables.
 */
export const responses = (
  host: HostInput,
  name: string,
  options?: ResponsesOptions
): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerResponsesConfig(host, { ...options, model: name }))
