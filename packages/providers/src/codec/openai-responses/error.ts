/** Finds the errors in bodies and events of `POST /responses`. Their codes are those of chat completions. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Report } from "../../classify/Report.ts"
import type { Source } from "../../transport/Source.ts"
import * as ErrorBody from "../../classify/ErrorBody.ts"
import * as Json from "../../transport/Json.ts"
import * as FilterResults from "../filterResults.ts"
import * as OpenAiError from "../openAiError.ts"
import { usageOf } from "./usage.ts"

export const classify = OpenAiError.classify

/**
 * Finds the error of an `error` event, with nested or flat fields, or of a failed, refused or filtered response, whole or at the end of a
 * stream. `undefined` if there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  const type = Json.text(Json.field(json, "type"))
  if (type === "error") {
    const report = OpenAiError.format.read(json)
    return report === undefined ? undefined : OpenAiError.failure(source, answer, report)
  }
  if (type === "response.refusal.done") return refused(source, answer, {}, Json.field(json, "refusal"))
  const response = Json.field(json, "response") ?? json
  const used: Used = { usage: usageOf(response) }
  const error = ErrorBody.inside(formatWith(used), source, answer, response)
  if (error !== undefined) return error
  if (type === "response.failed" || Json.field(response, "status") === "failed") {
    return OpenAiError.failure(source, answer, { codes: ["server_error"], text: "the response failed", ...used })
  }
  return ended(source, answer, used, response)
}

/** The usage of a failed attempt, which its error reports. */
type Used = Pick<Report, "usage">

const formatWith = (used: Used): ErrorBody.Format => ({
  ...OpenAiError.format,
  read: (json) => {
    const report = OpenAiError.format.read(json)
    return report === undefined ? undefined : { ...report, ...used }
  }
})

const ended = (source: Source, answer: Answer, used: Used, response: Schema.Json): LlmError | undefined => {
  if (Json.field(Json.field(response, "incomplete_details"), "reason") === "content_filter") {
    const text = "the response was cut off by a content filter"
    const filters = FilterResults.ofResponse(response)
    return OpenAiError.failure(source, answer, { codes: ["content_filter"], text, filters, ...used })
  }
  for (const item of Json.items(Json.field(response, "output"))) {
    for (const content of Json.items(Json.field(item, "content"))) {
      const refusal = refused(source, answer, used, Json.field(content, "refusal"))
      if (refusal !== undefined) return refusal
    }
  }
  return undefined
}

/** The error of a refusal; `undefined` if there is no refusal. */
export const refused = (
  source: Source,
  answer: Answer,
  used: Used,
  refusal: Schema.Json | undefined
): LlmError | undefined => {
  const text = Json.text(refusal)
  return text === undefined ? undefined : OpenAiError.failure(source, answer, { codes: ["refusal"], text, ...used })
}
