/** The differences between servers of the Responses API, as data. */
import type { Capabilities } from "../Capabilities.ts"

/**
 * How a server of the Responses API differs from OpenAI's own.
 *
 * @hidden
 */
export interface Dialect {
  /** What requests to this server may contain. Other requests are refused and not sent. */
  readonly capabilities: Capabilities
  /**
   * `openai`: the whole form. `plain`: messages with their type, calls without ids of items, results as texts, and the schema of an output
   * as `response_format`, for servers that refuse fields they do not know. Items of the provider itself are not sent back there.
   */
  readonly items: "openai" | "plain"
  /** Names that go as `preset`: the server chooses the model. */
  readonly presets?: ReadonlyArray<string>
  /** For the models whose names begin like this, the most tokens of a reply where none are given: the server demands a number. */
  readonly maxTokens?: { readonly of: string; readonly tokens: number }
}

/** OpenAI's own service. */
export const openAi: Dialect = {
  capabilities: {
    tools: true,
    toolChoice: ["none", "required", "named"],
    images: ["data", "url", "id"],
    files: ["data", "url", "id"],
    // "Audio in Chat Completions" of developers.openai.com says that responses take texts and images; looked up on 2026-11-26.
    audio: [],
    output: "schema",
    toolErrors: "text",
    reasoning: "demanded",
    promptCache: "key"
  },
  items: "openai"
}
