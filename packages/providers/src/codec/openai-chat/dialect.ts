/** The differences between servers of chat completions, as data. */
import type * as Schema from "effect/Schema"
import type { Capabilities } from "../Capabilities.ts"

/** How a server of chat completions differs from OpenAI's own. An absent field means OpenAI's behaviour. */
export interface Dialect {
  /** What requests to this server may contain. Other requests are refused and not sent. */
  readonly capabilities?: Capabilities
  /**
   * The field for the longest reply: OpenAI's own models refuse the older `max_tokens`, most other servers know only
   * that.
   */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens"
  /** The field for the seed. */
  readonly seedField?: "seed" | "random_seed"
  /** The role of instructions. */
  readonly systemRole?: "system" | "developer"
  /**
   * How reasoning is requested: `effort` is the field `reasoning_effort`; `object` is `reasoning`, with an effort or
   * a number of tokens; `thinking` switches `thinking` on, with a number of tokens if given, or off for the effort
   * `none`; `thinking-effort` does the same and also sends `reasoning_effort`.
   */
  readonly reasoning?: "effort" | "object" | "thinking" | "thinking-effort"
  /**
   * The `reasoning_content` of a message with calls that has no reasoning of this provider, for servers that refuse
   * such a message without the field.
   */
  readonly missingReasoning?: string
  /** Whether the text of a reply may begin with its reasoning, between `<think>` and `</think>`. */
  readonly thinkTags?: boolean
  /** Whether a streamed request asks for the usage in `stream_options`. */
  readonly streamOptions?: boolean
  /** The `object` of the event that ends a stream, for servers without `[DONE]`. */
  readonly lastEvent?: string
  /** Whether schemas that fit OpenAI's strict dialect are sent as strict. */
  readonly strict?: boolean
  /**
   * How files are sent: in OpenAI's form, under `file_url`, in plain base64 or as a URL, or under `document_url`, as a URL that may have
   * the bytes, and by the `file_id` of a stored one.
   */
  readonly files?: "file" | "file_url" | "document_url"
  /** What comes before the id of a stored image, which makes it an address. */
  readonly storedImages?: string
  /**
   * The names of the models that read images in the results of tools, as PNG or JPEG; other models get a description. Absent for a server
   * that takes texts alone there.
   */
  readonly resultImages?: RegExp
  /** Whether user and assistant must alternate, after all instructions. Adjacent messages of one role are then joined. */
  readonly alternates?: boolean
  /**
   * The fields beside the reply that name its sources. They are stored as one provider item of the kind `sources`,
   * which is never sent back.
   */
  readonly sources?: ReadonlyArray<string>
  /**
   * How a request says that its last message is the beginning of the reply: by this field of the message. The reply is the `rest` of it, or
   * the `whole` of it. Absent for servers that do not go on from a message.
   */
  readonly continuation?: { readonly field: "prefix" | "partial"; readonly reply: "rest" | "whole" }
  /** The field of a block behind which the cache ends: the instructions at the beginning have it. */
  readonly cacheMark?: Schema.JsonObject
  /** Whether the server itself searches, or runs tools of its own, for every request. */
  readonly providerTools?: boolean
  /** The longest call id that the server takes; longer ids of other providers are cut. */
  readonly maxIdLength?: number
}

/** OpenAI's own service. */
export const openAi = {
  capabilities: {
    tools: true,
    toolChoice: ["none", "required", "named"],
    images: ["data", "url"],
    files: ["data", "id"],
    audio: ["wav", "mp3"],
    output: "schema",
    toolErrors: "text",
    reasoning: "none",
    promptCache: "key"
  },
  maxTokensField: "max_completion_tokens",
  seedField: "seed",
  systemRole: "system",
  reasoning: "effort",
  thinkTags: false,
  streamOptions: true,
  // The base URL of many other servers is set as OpenAI's, and not all of them know the field.
  strict: false,
  files: "file",
  alternates: false,
  // xAI has the addresses that it has searched there.
  sources: ["citations"],
  maxIdLength: Infinity
} as const satisfies Dialect

/** A dialect with all defaults filled in. */
export type Full = Dialect & Required<Pick<Dialect, keyof typeof openAi>>

export const full = (dialect: Dialect): Full => ({ ...openAi, ...dialect })
