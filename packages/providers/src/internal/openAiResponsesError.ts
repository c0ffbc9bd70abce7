/** Which bodies and events of `POST /responses` are errors. Their names are those of the chat completions. */
import type { LlmError } from "@kintsugi/core/LlmError"
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
    const report = ChatError.format.read(json)
    return report === undefined ? undefined : ChatError.failure(source, answer, report)
  }
  if (type === "response.refusal.done") return refused(source, answer, Json.field(json, "refusal"))
  const response = Json.field(json, "response") ?? json
  const error = ErrorBody.inside(ChatError.format, source, answer, response)
  if (error !== undefined) return error
  if (type === "response.failed" || Json.field(response, "status") === "failed") {
    return ChatError.named(source, answer, "server_error", "the response failed")
  }
  return ended(source, answer, response)
}

const ended = (source: Source, answer: Answer, response: Schema.Json): LlmError | undefined => {
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
