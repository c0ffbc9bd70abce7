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
 * Ollama cannot be made to call a tool, or to call none: for the choice `none` no tools are offered. Without tools, the schema of an output
 * is sent as `format`. Beside tools it goes into the prompt as text, because `format` would keep the model from calling them.
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
import * as Extra from "../Extra.ts"
import type { Source } from "../../transport/Source.ts"

/**
 * What requests to Ollama may contain. What a single model cannot do, the server reports in its error.
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

/** The codec of one model. A parameter that is not set is not sent, `truncate` excepted. Throws a `RangeError` for invalid parameters. */
export const make = (
  source: Source,
  parameters: OllamaParameters = {},
  able: Partial<Capabilities.Capabilities> = {}
): Codec => Extra.perRequest(source, own, (asked) => codecOf(source, asked, { ...capabilities, ...able }), parameters)

/** The fields of a body that this format writes alone, and those that it merges with the user's. */
const own: Extra.Own = {
  written: {
    messages: "the messages of the request",
    model: "the option model",
    stream: "Model.stream or a streamed run",
    tools: "the tools of the agent"
  },
  merged: { options: "object" }
}

const codecOf = (source: Source, parameters: OllamaParameters, taken: Capabilities.Capabilities): Codec => {
  const { extra, keepAlive, numCtx, reasoning, truncate = false } = checked(parameters)
  const options = Extra.merged(optionsOf(parameters, taken.maxTokens))
  const constants = {
    model: source.model,
    truncate,
    options: Object.keys(options).length === 0 ? undefined : options,
    think: reasoning === "none" ? false : reasoning,
    keep_alive: keepAlive
  }
  const askedIn = (request: Model.Request | undefined): Asked => {
    const fields = Extra.merged(
      { options: { num_ctx: numCtx ?? 0 }, truncate },
      Extra.merged(extra ?? {}, request?.options)
    )
    const size = Json.count(Json.field(fields["options"], "num_ctx"))
    return {
      numCtx: size || undefined,
      contextWindow: taken.contextWindow,
      truncate: fields["truncate"] === true,
      request
    }
  }
  return {
    refuses: Capabilities.refusing(source, taken),
    encode: ChatRequest.make(source.provider, Extra.merged(constants, extra), taken.output),
    decode: (answer, request) => ChatStream.decode(source, answer, askedIn(request)),
    decoder: (answer, request) => new ChatStream.ChatDecoder(source, answer, askedIn(request)),
    classify: (answer) => OllamaError.classify(source, answer)
  }
}

const optionsOf = (
  parameters: OllamaParameters,
  usualMaxTokens: number | undefined
): Readonly<Record<string, Schema.Json | undefined>> => {
  const { maxTokens = usualMaxTokens, numCtx, seed, stop, temperature, topP } = parameters
  return { num_ctx: numCtx, num_predict: maxTokens, temperature, top_p: topP, stop, seed }
}

/**
 * Finds the error within the body of a success, or within one line of a stream. Total; `undefined` if there is none.
 *
 * @internal
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  OllamaError.inside(source, answer, json)
