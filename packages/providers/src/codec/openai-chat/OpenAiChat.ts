/**
 * The wire format of OpenAI's chat completions. Many other servers use it too; a `Dialect` says how a server differs.
 *
 * The format has no flag for a failed tool call, so its text says that it failed. `ERROR: ` is prepended, unless the
 * text already begins with one of this library's words for failures (`ERROR:`, `transient:`, `permanent:`, `unknown
 * tool:`). The text of a success stays unchanged.
 *
 * The schema of an output goes as `response_format` if its root is an object. Other schemas, and all schemas for a
 * server that takes none, go into the prompt as text, before the conversation.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Codec } from "../Codec.ts"
import * as ChatDialect from "./dialect.ts"
import * as ChatError from "./error.ts"
import { takesOf } from "./messages.ts"
import * as ChatReply from "./reply.ts"
import * as ChatRequest from "./request.ts"
import { ChatDecoder } from "./stream.ts"
import { type ChatParameters, checked, providesTools } from "../Parameters.ts"
import * as Extra from "../Extra.ts"
import type { Source } from "../../transport/Source.ts"

export type { Dialect } from "./dialect.ts"

/**
 * The capabilities of OpenAI's own service. They hold unless a dialect overrides them.
 *
 * @internal
 */
export const capabilities = ChatDialect.openAi.capabilities

/**
 * The codec of one model, in OpenAI's own dialect by default. A parameter that is not set is not sent. Throws a
 * `RangeError` for invalid parameters.
 */
export const make = (source: Source, parameters: ChatParameters = {}, dialect: ChatDialect.Dialect = {}): Codec => {
  const full = ChatDialect.full(dialect)
  return Extra.perRequest(source, ChatRequest.own, (asked) => codecOf(source, asked, full), parameters)
}

const codecOf = (source: Source, parameters: ChatParameters, full: ChatDialect.Full): Codec => ({
  continuation: ChatRequest.continuationOf(parameters, full),
  ...(full.resultImages === undefined ? {} : { takes: takesOf(full, source.model) }),
  providerTools: full.providerTools === true || providesTools(parameters),
  refuses: ChatRequest.refusing(source, parameters, full),
  encode: ChatRequest.make(source, checked(parameters), full),
  decode: (answer) => ChatReply.decode(source, answer, full),
  decoder: (answer) => new ChatDecoder(source, answer, full),
  classify: (answer) => ChatError.classify(source, answer)
})

/**
 * Finds the error within the body of a success, or within one event of a stream: an error object, a refusal, or a finish reason for a
 * content filter, overload or an error. In a stream, a refusal has the piece of text of its event. Total; `undefined` if there is no error.
 *
 * @internal
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ChatError.inside(source, answer, json)
