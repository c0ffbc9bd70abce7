/**
 * The wire format of OpenAI's chat completions, which many other servers speak too; a `Dialect` says how one of them differs.
 *
 * It has no flag for a failed tool call. So the text of one says so itself: unless it already begins with one of the words
 * by which this library tells failures (`ERROR:`, `transient:`, `permanent:`, `unknown tool:`), `ERROR: ` is put in front
 * of it. The text of a success goes as it is.
 *
 * The schema of an output goes as `response_format`, where it is that of an object. Others, and any for a server that takes
 * none, are told in words, in front of the conversation.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Codec } from "../Codec.ts"
import * as ChatDialect from "./dialect.ts"
import * as ChatError from "./error.ts"
import * as ChatReply from "./reply.ts"
import * as ChatRequest from "./request.ts"
import { ChatDecoder } from "./stream.ts"
import { checked } from "../Parameters.ts"
import type { Source } from "../../transport/Source.ts"

export type { Dialect } from "./dialect.ts"

/**
 * What may be asked of the model besides the conversation. What is not given is not sent. Reasoning in tokens is an
 * `InvalidRequestError` where the dialect asks by effort alone.
 */
export interface Parameters extends ChatRequest.Asked {}

/** Of OpenAI's own service, which hold unless a dialect says otherwise. */
export const capabilities = ChatDialect.openAi.capabilities

/**
 * The codec of one model, in OpenAI's own dialect unless another is given. Parameters that make no sense throw a
 * `RangeError`.
 */
export const make = (source: Source, parameters: Parameters = {}, dialect: ChatDialect.Dialect = {}): Codec => {
  const full = ChatDialect.full(dialect)
  return {
    refuses: ChatRequest.refusing(source, parameters, full),
    encode: ChatRequest.make(source, checked(parameters), full),
    decode: (answer) => ChatReply.decode(source, answer, full),
    decoder: (answer) => new ChatDecoder(source, answer, full),
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
