/** Describes as data how servers of chat completions differ. */
import type * as Schema from "effect/Schema"
import type { Capabilities } from "../Capabilities.ts"

/** How a server of chat completions differs from OpenAI's own. An absent field means that the server does as OpenAI does. */
export interface Dialect {
  /** What requests to this server may contain. Any other request is refused and not sent. */
  readonly capabilities?: Capabilities
  /**
   * The field of a body that limits the length of a reply. OpenAI's own models refuse the older `max_tokens`; most other servers know only
   * that.
   */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens"
  /** The field of a body for the seed. */
  readonly seedField?: "seed" | "random_seed"
  /** The role that messages with instructions have. */
  readonly systemRole?: "system" | "developer"
  /**
   * How a request asks for reasoning. `effort`: the field `reasoning_effort`. `object`: the field `reasoning`, with an effort or a number
   * of tokens. `thinking`: the field `thinking`, switched on, with a number of tokens if one is given, or off for the effort `none`.
   * `thinking-effort`: `thinking`, and `reasoning_effort` too.
   */
  readonly reasoning?: "effort" | "object" | "thinking" | "thinking-effort"
  /**
   * The value of `reasoning_content` for a message with calls that has no reasoning of this provider. Some servers refuse such a message
   * without the field.
   */
  readonly missingReasoning?: string
  /** Whether the text of a reply may begin with reasoning between `<think>` and `</think>`. */
  readonly thinkTags?: boolean
  /** Whether a streamed request asks for usage by the field `stream_options`. */
  readonly streamOptions?: boolean
  /** The value of `object` in the event that ends a stream, for servers that send no `[DONE]`. */
  readonly lastEvent?: string
  /** Whether schemas that fit OpenAI's strict dialect are sent as strict. */
  readonly strict?: boolean
  /**
   * How files are sent. `file`: in OpenAI's form. `file_url`: in plain base64 or as a URL. `document_url`: as a URL, which may be a `data:`
   * URL, or by the `file_id` of a stored file.
   */
  readonly files?: "file" | "file_url" | "document_url"
  /** The prefix that makes the id of a stored image a URL. */
  readonly storedImages?: string
  /**
   * Matches the names of the models that take images in tool results, as PNG or JPEG; other models get a description. Absent: the server
   * takes only text in tool results.
   */
  readonly resultImages?: RegExp
  /** Whether user and assistant must alternate after the instructions. Adjacent messages of one role are then joined. */
  readonly alternates?: boolean
  /**
   * The fields beside a reply that name its sources. They are stored as one provider item of the kind `sources`, which is never sent back.
   */
  readonly sources?: ReadonlyArray<string>
  /**
   * How a request marks its last message as the beginning of the reply: by this field of the message. The reply is then the `rest` of that
   * message, or the `whole` message. Absent: the server does not continue a message.
   */
  readonly continuation?: { readonly field: "prefix" | "partial"; readonly reply: "rest" | "whole" }
  /** The field that marks the end of the cached prompt. It is added to the instructions at the beginning. */
  readonly cacheMark?: Schema.JsonObject
  /** Whether the server itself searches, or runs tools of its own, in every request. */
  readonly providerTools?: boolean
  /** The longest call id that the server takes, in characters. Longer ids of other providers are cut. */
  readonly maxIdLength?: number
}

/** The dialect of OpenAI's own service. */
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
  // Off by default: many users set another server as OpenAI's base URL, and not every server knows the field.
  strict: false,
  files: "file",
  alternates: false,
  // xAI puts the addresses that it found by its search into this field.
  sources: ["citations"],
  maxIdLength: Infinity
} as const satisfies Dialect

/** A dialect with all defaults filled in. */
export type Full = Dialect & Required<Pick<Dialect, keyof typeof openAi>>

export const full = (dialect: Dialect): Full => ({ ...openAi, ...dialect })
