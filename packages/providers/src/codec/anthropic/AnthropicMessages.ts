/**
 * The wire format of Anthropic's Messages.
 *
 * Roles alternate: what one side says in several messages is one turn, and all results of a turn come first in the user's next
 * one, a failed one with `is_error`. Messages of the system go to the top of the body, wherever they stand in a transcript.
 * Texts of blanks alone are refused by the provider, and left out.
 *
 * `reasoning` as a number is a budget (`thinking.budget_tokens`), which models up to Claude 4.6 take; as a word it is an
 * effort (`output_config.effort`) with adaptive thinking, which models from Claude 4.6 on take. Thinking is left out of a
 * request that forces a call, and a budget while calls are under way that were made without it: both are refused.
 *
 * The schema of an output goes as `output_config.format` in the dialect that the provider takes: objects are closed, and
 * constraints that it does not know stand in the descriptions. Records and schemas that contain themselves are told in
 * words; nothing is said where `extra` has a format of its own.
 *
 * Sources of a text, `redacted_thinking` and whatever the provider does on its own side are `provider-item` parts, and go back
 * as they came.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Capabilities } from "../Capabilities.ts"
import type { Codec } from "../Codec.ts"
import * as MessagesError from "./error.ts"
import type { Parameters } from "./parameters.ts"
import * as MessagesReply from "./reply.ts"
import * as MessagesRequest from "./request.ts"
import { MessagesDecoder } from "./stream.ts"
import { checked } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

export type { Parameters } from "./parameters.ts"

/** What the format has words for. */
export const capabilities: Capabilities = {
  tools: true,
  toolChoice: ["none", "required", "named"],
  images: ["data", "url"],
  files: ["data", "url"],
  output: "schema",
  toolErrors: "flag",
  reasoning: "demanded",
  promptCache: "breakpoints"
}

/** The codec of one model. Parameters that make no sense throw a `RangeError`. */
export const make = (source: Source, parameters: Parameters = {}, able: Capabilities = capabilities): Codec => ({
  refuses: MessagesRequest.refusing(source, able),
  encode: MessagesRequest.make(source, checked(parameters)),
  decode: (answer) => MessagesReply.decode(source, answer),
  decoder: (answer) => new MessagesDecoder(source, answer),
  classify: (answer) => MessagesError.classify(source, answer)
})

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => MessagesError.classify(source, answer)

/**
 * The error within the body of a success, or within one event of a stream: an `error` event, which may be the very first one,
 * and a refusal. A full context window is no error: it ends a reply with usable text. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  MessagesError.inside(source, answer, json)
