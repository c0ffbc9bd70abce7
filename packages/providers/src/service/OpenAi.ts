/**
 * OpenAI as a `Model`: chat completions and the Responses API. Many other servers have the chat completions too; some models and tools need
 * the Responses API.
 */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type { ChatParameters, ResponsesParameters } from "../codec/Parameters.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import * as Background from "./background.ts"
import * as Counting from "./counting.ts"
import * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import * as Prices from "./prices.ts"
import { capabilities, type Dialect } from "../codec/openai-chat/OpenAiChat.ts"
import * as OpenAiResponses from "../codec/openai-responses/OpenAiResponses.ts"
import { fitting } from "../codec/Fitting.ts"
import type * as Transport from "../transport/Transport.ts"

/** Options of every OpenAI model that belong to the account. `baseUrl` is `https://api.openai.com/v1` by default. */
interface Account extends ByName.Reach {
  readonly organization?: string
  readonly project?: string
}

/** Options of the chat completions. */
export interface Options extends Omit<ChatParameters, "providerTools">, Account {
  /** The reasoning effort: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, depending on the model. */
  readonly reasoning?: string
}

/** Options of the Responses API. */
type ResponsesOptions = ResponsesParameters & Account

/** The options of `layer`, which also need the model and its API key. */
interface LayerOptions extends Options, ChatProvider.Chosen {}

/** The options of `layerResponses`, which also need the model and its API key. */
type LayerResponsesOptions = ResponsesOptions & ChatProvider.Chosen

const openAi: ChatProvider.ChatProvider = {
  provider: "openai",
  catalog: ModelFamilies.openAi,
  prices: Prices.openAi,
  baseUrl: "https://api.openai.com/v1",
  variables: { apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
  dialect: { maxIdLength: 40, strict: true }
}

const accountOf = ({ organization, project }: Account) => ({
  ...openAi,
  headers: {
    ...(organization === undefined ? {} : { "openai-organization": organization }),
    ...(project === undefined ? {} : { "openai-project": project })
  }
})

/**
 * A model over your own `HttpClient`. The client has its own connect timeout, proxy and certificates, and decides about redirects;
 * `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const account = accountOf(options)
  if (!isMistral(options.baseUrl)) return ChatProvider.layer(account, options)
  return ChatProvider.layer({ ...account, dialect: { ...account.dialect, ...mistral }, takes: takenByMistral }, options)
}

/**
 * The dialect of Mistral's own server. Other servers with Mistral's models use OpenAI's fields (docs.mistral.ai/api, looked up on
 * 2026-11-26).
 */
const mistral: Dialect = {
  maxTokensField: "max_tokens",
  seedField: "random_seed",
  files: "document_url",
  capabilities: { ...capabilities, files: ["data", "url", "id"] }
}

const takenByMistral = { promptCache: "key-only", refusedOptions: ["serviceTier", "verbosity"] } as const

const isMistral = (baseUrl = openAi.baseUrl): boolean =>
  URL.canParse(baseUrl) && /(?:^|\.)mistral\.ai$/.test(new URL(baseUrl).hostname)

/** A model of the Responses API over your own `HttpClient`. */
export const layerResponses = (
  options: LayerResponsesOptions
): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { baseUrl = openAi.baseUrl, headers = {}, organization = "", project = "" } = options
  const plain = Object.entries(headers).flatMap(([name, value]) =>
    Predicate.isString(value) ? [`${name.toLowerCase()}: ${value}`] : []
  )
  const account = [baseUrl, organization, project, ...plain.toSorted()]
  return ChatProvider.at(
    accountOf(options),
    "/responses",
    options,
    (source) =>
      fitting(
        source,
        options,
        ModelFamilies.openAiResponses,
        (asked, able) => OpenAiResponses.make(source, asked, undefined, able, account),
        // the Responses API accepts a reasoning effort together with tools; only chat completions refuse that
        { reasoningBesideTools: "any" }
      ),
    Background.make,
    Counting.ofResponses
  )
}

/**
 * A model over your own `HttpClient`, with options from `Config`. An option is a value or a `Config`, which the layer reads when it is
 * built. Unless given, the key comes from `OPENAI_API_KEY`, and the base URL from `OPENAI_BASE_URL`, if that is set; a missing key is a
 * `ConfigError`.
 */
export const layerConfig = (
  options: ByName.FromConfig<Options & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<Options & ByName.Named>(openAi.variables, options, layer)

/** A model of the Responses API, with options from `Config`. They are read as in `layerConfig`; it sends over your own `HttpClient`. */
export const layerResponsesConfig = (
  options: ByName.FromConfig<ResponsesOptions & ByName.Named>
): Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient> =>
  ByName.layerConfig<ResponsesOptions & ByName.Named>(openAi.variables, options, layerResponses)

/**
 * Makes the layer of a model by its name. It sends over the `HttpClient` of the context, or else over the runtime's `fetch`; the settings
 * come as in `layerConfig`. The key comes from `OPENAI_API_KEY`, and the base URL from `OPENAI_BASE_URL` if it is set; a missing key is a
 * `ConfigError` that says `set OPENAI_API_KEY`. Failures are `LlmError`s, after the retries of `Transport`.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { OpenAi } from "@kintsugi/providers"
 * import type { Config } from "effect"
 *
 * const clerk = Agent.make("clerk", { prompt: "Answer in one sentence.", model: OpenAi.model("gpt-5.6-sol") })
 * const answer = clerk("Why is the sky blue?")
 * //    ^? Effect<string, Config.ConfigError | BudgetExceededError | LlmError>
 * ```
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerConfig({ ...options, model: name }))

/**
 * A model of the Responses API by its name. It sends as `model` does; the settings come as in `layerResponsesConfig`. The key and base URL
 * come from the same variables.
 */
export const responses = (name: string, options?: ResponsesOptions): Layer.Layer<Model.Model, Config.ConfigError> =>
  ByName.overAny(layerResponsesConfig({ ...options, model: name }))
