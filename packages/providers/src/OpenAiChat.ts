/**
 * The wire format of OpenAI's chat completions, which many other servers speak too.
 *
 * It has no flag for a failed tool call. So the text of one says so itself: unless it already begins with one of the words
 * by which this library tells failures (`ERROR:`, `transient:`, `permanent:`, `unknown tool:`), `ERROR: ` is put in front
 * of it. The text of a success goes as it is.
 *
 * It takes images, and files whose bytes are given; a file at an address is an `InvalidRequestError`, and nothing is sent. The
 * schema of an output goes as `response_format`, where it is that of an object: others are not taken.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "./Answer.ts"
import type { Codec } from "./Codec.ts"
import * as ChatError from "./internal/openAiChatError.ts"
import * as ChatReply from "./internal/openAiChatReply.ts"
import * as ChatRequest from "./internal/openAiChatRequest.ts"
import { ChatDecoder } from "./internal/openAiChatStream.ts"
import type { Source } from "./Source.ts"

/** What may be asked of the model besides the conversation. What is not given is not sent. */
export interface Parameters {
  /** 0 to 2; reasoning models refuse it. */
  readonly temperature?: number
  readonly topP?: number
  /** The longest reply, in tokens, reasoning included. */
  readonly maxTokens?: number
  readonly stop?: ReadonlyArray<string>
  readonly seed?: number
  /** `minimal`, `low`, `medium`, `high`; for reasoning models. */
  readonly reasoningEffort?: string
  readonly parallelToolCalls?: boolean
  /** Further fields of the body, as the wire names them. */
  readonly extra?: Readonly<Record<string, Schema.Json>>
}

export interface Dialect {
  /** How the longest reply is called: OpenAI's own models refuse the older `max_tokens`, most others know only that. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens"
}

export const make = (source: Source, parameters: Parameters = {}, dialect: Dialect = {}): Codec => {
  const { extra, maxTokens, parallelToolCalls, reasoningEffort, seed, stop, temperature, topP } = parameters
  const { messages: _m, stream: _s, stream_options: _o, tool_choice: _c, tools: _t, ...others } = extra ?? {}
  return {
    refuses: ChatRequest.refusing(source),
    encode: ChatRequest.make(source.provider, {
      ...others,
      model: source.model,
      temperature,
      top_p: topP,
      [dialect.maxTokensField ?? "max_completion_tokens"]: maxTokens,
      stop,
      seed,
      reasoning_effort: reasoningEffort,
      parallel_tool_calls: parallelToolCalls
    }),
    decode: (answer) => ChatReply.decode(source, answer),
    decoder: (answer) => new ChatDecoder(source, answer),
    classify: (answer) => ChatError.classify(source, answer)
  }
}

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => ChatError.classify(source, answer)

/**
 * The error within the body of a success, or within one event of a stream: an error object in the place of a reply or
 * beside it, a refusal, and an end by a content filter, by load, or by an error. Of a streamed refusal it has the piece that
 * the event brings. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ChatError.inside(source, answer, json)
