/**
 * The wire format of Anthropic's Messages.
 *
 * Roles alternate: adjacent messages of one side become one turn. All results of a turn come first in the user's next
 * turn, a failed one with `is_error`. System messages go to the top of the body, wherever they stand in a transcript.
 * The provider refuses blank texts, so they are left out.
 *
 * `reasoning` as a number is a budget (`thinking.budget_tokens`) for models up to Claude 4.6; as a word it is an
 * effort (`output_config.effort`) with adaptive thinking, for models from Claude 4.6 on.
 *
 * The schema of an output goes as `output_config.format` in the provider's dialect: objects are closed, and
 * unsupported constraints go into the descriptions. Records and recursive schemas go into the prompt as text. A
 * format in `extra` replaces all of this.
 *
 * Models up to Claude 4.5 go on from a message of their own if they do not think; later ones refuse that. What a model takes is in
 * `ModelFamilies`: this format writes what it is given.
 *
 * Citations of a text, `redacted_thinking` and everything that the provider does itself are `provider-item` parts,
 * and are sent back unchanged.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Capabilities } from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import { continuationOf } from "./continuation.ts"
import * as MessagesError from "./error.ts"
import * as MessagesReply from "./reply.ts"
import * as MessagesRequest from "./request.ts"
import { MessagesDecoder } from "./stream.ts"
import { type AnthropicParameters, checked, providesTools } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"
import { namesFile as names, takes } from "./blocks.ts"
import { own } from "./parameters.ts"
import { remembering } from "../Remembering.ts"
import * as Extra from "../Extra.ts"
import type * as Model from "@kintsugi/core/Model"
import { unansweredNames } from "./waiting.ts"

/**
 * What the format can express.
 *
 * @internal
 */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url", "id"],
  files: ["data", "url", "id"],
  output: "schema",
  toolErrors: "flag",
  reasoning: "demanded",
  promptCache: "breakpoints"
}

/** The codec of one model. A parameter that is not set is not sent, `maxTokens` excepted. Throws a `RangeError` for invalid parameters. */
export const make = (
  source: Source,
  parameters: AnthropicParameters = {},
  ofModel: Partial<Capabilities> = {}
): Codec =>
  Extra.perRequest(source, own, (asked) => codecOf(source, asked, { ...capabilities, ...ofModel }), parameters)

const codecOf = (source: Source, parameters: AnthropicParameters, able: Capabilities): Codec => {
  const unanswered = (request?: Model.Request) => unansweredNames(parameters.providerTools, request?.providerCalls)
  return {
    continuation: continuationOf(source.model, parameters, able),
    providerTools: providesTools(parameters),
    refuses: MessagesRequest.refusing(source, able),
    ...(able.images.length === 0 ? {} : { takes }),
    bindsThoughts: parameters.providerTools ?? [],
    encode: MessagesRequest.make(source, checked(parameters), able),
    decode: (answer, request) => MessagesReply.decode(source, answer, unanswered(request)),
    decoder: (answer, request) => new MessagesDecoder(source, answer, unanswered(request)),
    classify: (answer) => MessagesError.classify(source, answer)
  }
}

/**
 * Makes the check whether a request ends with results of calls, and no message of their turn has thoughts of this provider.
 *
 * @internal
 */
export const answersPlainCalls = ({ provider }: Source): ((request: Model.Request) => boolean) =>
  MessagesRequest.answersPlainCalls(provider)

/**
 * Makes the check whether a request names a file that the provider stores. The check remembers its result for each message.
 *
 * @internal
 */
export const namesFile = (): ((request: Model.Request) => boolean) => {
  const inMessage = remembering(names)
  return ({ messages }) => messages.some(inMessage)
}

/**
 * Finds the error within the body of a success, or within one event of a stream: an `error` event, which may be the first, or a refusal. A
 * full context window is no error, because the reply still has usable text. Total; `undefined` if there is none.
 *
 * @internal
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  MessagesError.inside(source, answer, json)
