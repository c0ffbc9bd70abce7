/** Which bodies and events of `POST /responses` are errors. Their names are those of the chat completions. */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Answer } from "../Answer.ts"
import type { Source } from "../Source.ts"
import * as ErrorBody from "./errorBody.ts"
import * as Json from "./json.ts"
import * as ChatError from "./openAiChatError.ts"

export const classify = ChatError.classify

/** An `error` event, with its fields nested or flat; a response, whole or at the end of a stream, that is none. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  const type = Json.text(Json.field(json, "type"))
  if (type === "error") {
    // the type of a flat error is that of the event, and names nothing
    const nested = Predicate.isObject(Json.field(json, "error"))
    const report = ChatError.format.read(nested ? json : { ...fieldsOf(json), type: null })
    return report === undefined ? undefined : ChatError.failure(source, answer, report)
  }
  if (type === "response.refusal.done") return refused(source, answer, Json.field(json, "refusal"))
  const response = Json.field(json, "response") ?? json
  return ErrorBody.inside(ChatError.format, source, answer, response) ?? ended(source, answer, response)
}

const fieldsOf = (json: Schema.Json): { readonly [key: string]: Schema.Json } =>
  // an object within JSON holds JSON
  Predicate.isObject(json) ? (json as { readonly [key: string]: Schema.Json }) : {}

const ended = (source: Source, answer: Answer, response: Schema.Json): LlmError | undefined => {
  const status = Json.field(response, "status")
  if (status === "failed") return ChatError.named(source, answer, "server_error", "the response failed")
  if (Json.field(Json.field(response, "incomplete_details"), "reason") === "content_filter") {
    return ChatError.named(source, answer, "content_filter", "the response was cut off by a content filter")
  }
  for (const item of Json.items(Json.field(response, "output"))) {
    for (const content of Json.items(Json.field(item, "content"))) {
      const refusal = refused(source, answer, Json.field(content, "refusal"))
      if (refusal !== undefined) return refusal
    }
  }
  return undefined
}

const refused = (source: Source, answer: Answer, refusal: Schema.Json | undefined): LlmError | undefined => {
  const text = Json.text(refusal)
  return text === undefined ? undefined : ChatError.named(source, answer, "content_filter", text)
}
