/**
 * OpenAI as a `Model`: its chat completions, which many other servers speak too, and its responses, for the models and tools
 * that only they have.
 */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type { Capabilities } from "../codec/Capabilities.ts"
import type * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import * as OpenAiChat from "../codec/openai-chat/OpenAiChat.ts"
import * as OpenAiResponses from "../codec/openai-responses/OpenAiResponses.ts"
import type * as Transport from "../transport/Transport.ts"

/** Who asks, and where; `baseUrl` is `https://api.openai.com/v1` by default. */
export interface Account extends ByName.Reach {
  readonly organization?: string
  readonly project?: string
}

/** What may be asked of the chat completions, and who asks. */
export interface Options extends Omit<OpenAiChat.Parameters, "providerTools">, Account {
  /** An effort: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, as the model has it. */
  readonly reasoning?: string
}

/** What may be asked of the responses, and who asks. */
export interface ResponsesOptions extends OpenAiResponses.Parameters, Account {}

/** The options, with model and key. */
export interface LayerOptions extends Options, ChatProvider.Chosen {}

/** The options of the responses, with model and key. */
export interface LayerResponsesOptions extends ResponsesOptions, ChatProvider.Chosen {}

/** Of the chat completions; those of the responses are `OpenAiResponses.capabilities`. */
export const capabilities: Capabilities = OpenAiChat.capabilities

/** What is worth knowing of the chat completions. */
export const quirks: ReadonlyArray<string> = [
  "Reasoning models refuse `temperature`, `topP` and `stop`.",
  "What a model thought is not shown; only its tokens are counted.",
  "A refusal ends with the reason `stop`; here it is a `ContentFilteredError` with the model's words.",
  "A schema that fits the strict dialect is sent as strict; an optional property comes as `null` then, and is read as absent.",
  "Ids of calls have at most 40 characters; longer ones of other providers are cut."
]

const openAi: ChatProvider.ChatProvider = {
  provider: "openai",
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
 * The model behind an `HttpClient` of yours: its limits for connecting, its proxy, its certificates. Redirects are its
 * business; `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  ChatProvider.layer(accountOf(options), options)

/** The same, through the responses. */
export const layerResponses = (options: LayerResponsesOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  ChatProvider.at(accountOf(options), "/responses", options, (source) => OpenAiResponses.make(source, options))

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `OPENAI_API_KEY`, the base URL, unless given, from
 * `OPENAI_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ChatProvider.model(openAi, name, options, layer)

/** The model by name, through the responses; key and base URL come from the same variables. */
export const responses = (name: string, options?: ResponsesOptions): Layer.Layer<Model.Model, Config.ConfigError> =>
  ChatProvider.model(openAi, name, options, layerResponses)
