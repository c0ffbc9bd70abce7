/**
 * The wire format of Ollama's own chat, `/api/chat`.
 *
 * It has no flag for a failed tool call. As in chat completions, the text of a failed call begins with `ERROR: `,
 * unless it already begins with a word of this library for failures.
 *
 * By default Ollama silently drops the oldest messages of a conversation that is too long. Here `truncate: false`
 * makes it answer with an error, a `ContextTooLongError`, which policies can recover from. Some servers cut the prompt
 * all the same, and report only what they have read of it: see `contextCut`. If the size of the context is known, a
 * reply to such a prompt is that error too; with `truncate: true`, or where a cut is only likely, it has a
 * provider item of the kind `truncated_prompt`.
 *
 * Ollama cannot be made to call a tool, or to call none: for the choice `none` no tools are offered. The schema of an
 * output goes as `format` without tools, because it would keep the model from calling them; beside tools it goes into
 * the prompt as text.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Capabilities from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import * as Json from "../../transport/Json.ts"
import type { Asked } from "./contextCut.ts"
import * as OllamaError from "./error.ts"
import * as ChatRequest from "./request.ts"
import * as ChatStream from "./stream.ts"
import { checked, type OllamaParameters } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

/**
 * What requests to Ollama may contain. The server reports what one of its models cannot do.
 *
 * @internal
 */
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

/**
 * The codec of one model. A parameter that is not set is not sent, `truncate` excepted. Throws a `RangeError` for
 * invalid parameters.
 */
export const make = (
  source: Source,
  parameters: OllamaParameters = {},
  able: Partial<Capabilities.Capabilities> = {}
): Codec => {
  const { extra = {}, keepAlive, numCtx, reasoning, truncate = false } = checked(parameters)
  const { format: _f, messages: _m, model: _n, options: more, stream: _s, tools: _t, ...others } = extra
  const taken = { ...capabilities, ...able }
  const options = { ...Json.fields(more), ...optionsOf(parameters, taken.maxTokens) }
  const askedIn = (request: Model.Request | undefined): Asked => {
    const size = numCtx ?? Json.fields(request?.options?.["options"] ?? more)["num_ctx"]
    return { numCtx: Json.count(size) || undefined, contextWindow: able.contextWindow, truncate, request }
  }
  return {
    refuses: Capabilities.refusing(source, taken),
    encode: ChatRequest.make(
      source.provider,
      {
        ...others,
        model: source.model,
        truncate,
        options: Object.keys(options).length === 0 ? undefined : options,
        // Mutant `false` for `reasoning === undefined` survives: JSON leaves out a field that is undefined
        ...(reasoning === undefined ? {} : { think: reasoning === "none" ? false : reasoning }),
        // Mutant `false` survives: JSON leaves out a field that is undefined
        ...(keepAlive === undefined ? {} : { keep_alive: keepAlive })
      },
      taken.output
    ),
    decode: (answer, request) => ChatStream.decode(source, answer, askedIn(request)),
    decoder: (answer, request) => new ChatStream.ChatDecoder(source, answer, askedIn(request)),
    classify: (answer) => OllamaError.classify(source, answer)
  }
}

const optionsOf = (
  parameters: OllamaParameters,
  usualMaxTokens: number | undefined
): Readonly<Record<string, Schema.Json>> => {
  const { maxTokens = usualMaxTokens, numCtx, seed, stop, temperature, topP } = parameters
  return {
    ...(numCtx === undefined ? {} : { num_ctx: numCtx }),
    ...(maxTokens === undefined ? {} : { num_predict: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop === undefined ? {} : { stop }),
    ...(seed === undefined ? {} : { seed })
  }
}

/**
 * The error within the body of a success, or within one line of a stream. Total; `undefined` if there is none.
 *
 * @internal
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  OllamaError.inside(source, answer, json)
