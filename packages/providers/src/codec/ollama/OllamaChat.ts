/**
 * The wire format of Ollama's own chat, `/api/chat`.
 *
 * It has no flag for a failed tool call: as in chat completions, the text of one says so itself, and begins with `ERROR: `
 * unless it already begins with a word of this library for failures.
 *
 * By itself Ollama forgets the oldest messages of a conversation that is too long, and says nothing of it. Here it is told not
 * to (`truncate: false`): it answers with an error then, a `ContextTooLongError`, which can be recovered from. A server too old
 * for this cuts the prompt all the same; where `numCtx` is given and the prompt fills all of it, the reply holds a provider
 * item of the kind `truncated_prompt`. It is a reply nevertheless, to what was left.
 *
 * It cannot be told to call a tool, nor to call none: who shall call none is offered none. The schema of an output goes as
 * `format` where no tools are offered, as it would keep the model from calling any, and in words beside tools.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Capabilities from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import * as OllamaError from "./error.ts"
import * as ChatRequest from "./request.ts"
import * as ChatStream from "./stream.ts"
import { checked, type Parameters as Every } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

/**
 * What may be asked of the model besides the conversation. What is not given is not sent, but for `truncate`. `maxTokens` is
 * its `num_predict`.
 */
export interface Parameters extends Pick<Every, "temperature" | "topP" | "maxTokens" | "stop" | "seed"> {
  /** Whether a reasoning model thinks; for those that know levels, `low`, `medium` or `high`. `none` is `false`. */
  readonly reasoning?: boolean | string
  /** How many tokens prompt and reply may have together. The server's own default may be as small as 4096. */
  readonly numCtx?: number
  /** How long the model stays loaded after the reply: `5m`, or seconds; 0 unloads it at once, a negative number never. */
  readonly keepAlive?: string | number
  /**
   * Whether the server may drop the oldest messages of a prompt that is too long, and say nothing of it; `false` by default, so
   * that this is a `ContextTooLongError`.
   */
  readonly truncate?: boolean
  /**
   * Further fields of the body, as the wire names them. They cannot replace those that the library writes itself; those within
   * `options` go beside them.
   */
  readonly extra?: Every["extra"]
}

/** What can be said to Ollama. What one of its models cannot do, the server says. */
export const capabilities: Capabilities.Capabilities = {
  tools: true,
  toolChoice: [],
  images: ["data"],
  files: [],
  output: "schema",
  toolErrors: "text",
  reasoning: "shown",
  promptCache: "automatic"
}

/** The codec of one model. Parameters that make no sense throw a `RangeError`. */
export const make = (source: Source, parameters: Parameters = {}): Codec => {
  const { extra = {}, keepAlive, numCtx, reasoning, truncate = false } = checked(parameters)
  const { format: _f, messages: _m, model: _n, options: more, stream: _s, tools: _t, ...others } = extra
  const options = { ...Json.fields(more), ...optionsOf(parameters) }
  return {
    refuses: Capabilities.refusing(source, capabilities),
    encode: ChatRequest.make(source.provider, {
      ...others,
      model: source.model,
      truncate,
      options: Object.keys(options).length === 0 ? undefined : options,
      // Mutant `false` for `reasoning === undefined` survives: JSON leaves out a field that is undefined
      ...(reasoning === undefined ? {} : { think: reasoning === "none" ? false : reasoning }),
      // Mutant `false` survives: JSON leaves out a field that is undefined
      ...(keepAlive === undefined ? {} : { keep_alive: keepAlive })
    }),
    decode: (answer) => ChatStream.decode(source, answer, numCtx),
    decoder: (answer) => new ChatStream.ChatDecoder(source, answer, numCtx),
    classify: (answer) => OllamaError.classify(source, answer)
  }
}

const optionsOf = (parameters: Parameters): Readonly<Record<string, Schema.Json>> => {
  const { maxTokens, numCtx, seed, stop, temperature, topP } = parameters
  return {
    ...(numCtx === undefined ? {} : { num_ctx: numCtx }),
    ...(maxTokens === undefined ? {} : { num_predict: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop === undefined ? {} : { stop }),
    ...(seed === undefined ? {} : { seed })
  }
}

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => OllamaError.classify(source, answer)

/** The error within the body of a success, or within one line of a stream. Total; `undefined` when there is none. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  OllamaError.inside(source, answer, json)
