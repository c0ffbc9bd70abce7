/** DeepSeek, as a `Model`. */
import type * as Model from "@kintsugi/core/Model"
import type * as Config from "effect/Config"
import type * as Layer from "effect/Layer"
import type { Capabilities } from "../codec/Capabilities.ts"
import type * as ByName from "./byName.ts"
import * as ChatProvider from "./chatProvider.ts"
import type * as OpenAiChat from "../codec/openai-chat/OpenAiChat.ts"
import type * as Transport from "../transport/Transport.ts"

/** `baseUrl` is `https://api.deepseek.com` by default. */
export interface Options
  extends
    Pick<OpenAiChat.Parameters, "temperature" | "topP" | "maxTokens" | "stop" | "toolChoice" | "extra">,
    ByName.Reach {
  /** An effort, `high` or `max`, which switches thinking on; `none` switches it off. */
  readonly reasoning?: string
}

/** The options, with model and key. */
export interface LayerOptions extends Options, ChatProvider.Chosen {}

/** What can be said to DeepSeek. */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: [],
  files: [],
  output: "json",
  toolErrors: "text",
  reasoning: "demanded",
  promptCache: "automatic"
}

/** What is worth knowing of it. */
export const quirks: ReadonlyArray<string> = [
  "While a request waits for its turn, blank lines and comments come: signs of life, and nothing else.",
  "A model that thinks refuses a conversation whose calls come without its thoughts; they go back, and an empty text stands for those of other providers.",
  "The schema of an output is told in words; only that the answer is JSON can be demanded.",
  "An answer that load broke off (`insufficient_system_resource`) is a `ModelOverloadedError`.",
  "A model that thinks ignores `temperature` and `topP`, and refuses a choice of tools other than its own."
]

const deepSeek: ChatProvider.ChatProvider = {
  provider: "deepseek",
  baseUrl: "https://api.deepseek.com",
  variables: { apiKey: "DEEPSEEK_API_KEY", baseUrl: "DEEPSEEK_BASE_URL" },
  dialect: {
    capabilities,
    maxTokensField: "max_tokens",
    reasoning: "thinking-effort",
    missingReasoning: ""
  }
}

/** The model behind an `HttpClient` of yours. */
export const layer = (options: LayerOptions): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  ChatProvider.layer(deepSeek, options)

/**
 * The model by name, over the runtime's own `fetch`. The key comes from `DEEPSEEK_API_KEY`, the base URL, unless given, from
 * `DEEPSEEK_BASE_URL`; a missing key is a `ConfigError`.
 */
export const model = (name: string, options?: Options): Layer.Layer<Model.Model, Config.ConfigError> =>
  ChatProvider.model(deepSeek, name, options, layer)
