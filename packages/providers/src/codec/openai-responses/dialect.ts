/** Describes as data how servers of the Responses API differ. */
import type { Capabilities } from "../Capabilities.ts"

/**
 * How a server of the Responses API differs from OpenAI's own.
 *
 * @hidden
 */
export interface Dialect {
  /** What requests to this server may contain. Any other request is refused and not sent. */
  readonly capabilities: Capabilities
  /**
   * The form of items. `openai`: all fields. `plain`, for servers that refuse fields which they do not know: messages with their type,
   * calls without ids of items, results as texts, and the schema of an output as `response_format`. Items of the provider itself are not
   * sent back in the plain form.
   */
  readonly items: "openai" | "plain"
  /** The names of models that are sent as `preset`: for such a name the server chooses the model. */
  readonly presets?: ReadonlyArray<string>
  /** The most tokens of a reply if the options set none, for models whose names begin with `of`: the server demands a number. */
  readonly maxTokens?: { readonly of: string; readonly tokens: number }
}

/** The dialect of OpenAI's own service. */
export const openAi: Dialect = {
  capabilities: {
    tools: true,
    toolChoice: ["none", "required", "named"],
    images: ["data", "url", "id"],
    files: ["data", "url", "id"],
    // No audio: "Audio in Chat Completions" of developers.openai.com says that responses take texts and images; looked up on 2026-11-26.
    audio: [],
    output: "schema",
    toolErrors: "text",
    reasoning: "demanded",
    promptCache: "key"
  },
  items: "openai"
}
