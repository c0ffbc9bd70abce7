/** What differs between the servers that speak chat completions, as data. */
import type { Capabilities } from "../Capabilities.ts"

/** OpenAI's own ways hold for whatever is not said. */
export interface Dialect {
  /** What can be said to this server; what cannot is refused, and not sent. */
  readonly capabilities?: Capabilities
  /** How the longest reply is called: OpenAI's own models refuse the older `max_tokens`, most others know only that. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens"
  /** The role of instructions. */
  readonly systemRole?: "system" | "developer"
  /**
   * How reasoning is asked for: `effort` is the field `reasoning_effort`; `object` is `reasoning`, with an effort or a number of
   * tokens; `thinking` switches `thinking` on, for a number of tokens if one is given, or off for the effort `none`;
   * `thinking-effort` does so and sends `reasoning_effort` beside it.
   */
  readonly reasoning?: "effort" | "object" | "thinking" | "thinking-effort"
  /**
   * What stands for the reasoning of a message with calls that has none of this provider's own, where the server refuses such a
   * message without the field `reasoning_content`.
   */
  readonly missingReasoning?: string
  /** Whether the text of a reply may begin with its reasoning, between `<think>` and `</think>`. */
  readonly thinkTags?: boolean
  /** Whether usage has to be asked for, and may be, in the `stream_options` of a streamed request. */
  readonly streamOptions?: boolean
  /** The `object` of the event that ends a stream, where no `[DONE]` does. */
  readonly lastEvent?: string
  /** Whether schemas are said in OpenAI's strict dialect, and to be so, where they fit it. */
  readonly strict?: boolean
  /** How files are handed over: as OpenAI takes them, or under `file_url`, in plain base64 or at their address. */
  readonly files?: "file" | "file_url"
  /** Whether user and assistant have to take turns, after all instructions. Neighbours of one role are made one message then. */
  readonly alternates?: boolean
  /** The fields beside the reply that name its sources: kept as one provider item of the kind `sources`, never sent back. */
  readonly sources?: ReadonlyArray<string>
  /** The longest id of a call that the server takes; longer ones of other providers are cut. */
  readonly maxIdLength?: number
}

/** OpenAI's own service. */
export const openAi = {
  capabilities: {
    tools: true,
    toolChoice: ["none", "required", "named"],
    images: ["data", "url"],
    files: ["data"],
    output: "schema",
    toolErrors: "text",
    reasoning: "none",
    promptCache: "key"
  },
  maxTokensField: "max_completion_tokens",
  systemRole: "system",
  reasoning: "effort",
  thinkTags: false,
  streamOptions: true,
  // many servers are told that they are OpenAI's, and not all know the word
  strict: false,
  files: "file",
  alternates: false,
  sources: [],
  maxIdLength: Infinity
} as const satisfies Dialect

/** A dialect of which everything is said that has a default. */
export type Full = Dialect & Required<Pick<Dialect, keyof typeof openAi>>

export const full = (dialect: Dialect): Full => ({ ...openAi, ...dialect })
