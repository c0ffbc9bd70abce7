/** OpenAI, and every server that speaks its chat completions, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type { Capabilities } from "./Capabilities.ts"
import type * as ByName from "./internal/byName.ts"
import * as ChatProvider from "./internal/chatProvider.ts"
import * as OpenAiChat from "./OpenAiChat.ts"
import type * as Transport from "./Transport.ts"

/** `baseUrl` is `https://api.openai.com/v1` by default. */
export interface Options extends OpenAiChat.Parameters, ByName.Reach {
  /** An effort: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, as the model has it. */
  readonly reasoning?: string
  readonly organization?: string
  readonly project?: string
}

export interface LayerOptions extends Options, ChatProvider.Chosen {}

export const capabilities: Capabilities = OpenAiChat.capabilities

export const quirks: ReadonlyArray<string> = [
  "Reasoning models refuse `temperature`, `topP` and `stop`.",
  "What a model thought is not shown; only its tokens are counted.",
  "A refusal ends with the reason `stop`; here it is a `ContentFilteredError` with the model's words.",
  "Ids of calls have at most 40 characters; longer ones of other providers are cut."
]

const openAi: ChatProvider.ChatProvider = {
  provider: "openai",
  baseUrl: "https://api.openai.com/v1",
  variables: { apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
  dialect: { maxIdLength: 40 }
}

/**
 * The model behind an `HttpClient` of yours: its limits for connecting, its proxy, its certificates. Redirects are its
 * business; `Transport.layerFetch` follows none.
 */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { organization, project } = options
  const headers = {
    ...(organization === undefined ? {} : { "openai-organization": organization }),
    ...(project === undefined ? {} : { "openai-project": project })
  }
  return ChatProvider.layer({ ...openAi, headers }, options)
}

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `OPENAI_API_KEY`, the base URL, unless given, from
 * `OPENAI_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ChatProvider.model(openAi, name, options, layer)
