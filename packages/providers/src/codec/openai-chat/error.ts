/** Finds the errors in bodies and events of `POST /chat/completions`, and in finish reasons. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Report } from "../../classify/Report.ts"
import type { Source } from "../../transport/Source.ts"
import * as ErrorBody from "../../classify/ErrorBody.ts"
import * as Json from "../../transport/Json.ts"
import { codes } from "../openAiErrorCodes.ts"
import * as FilterResults from "../filterResults.ts"
import * as OpenAiError from "../openAiError.ts"

export const classify = OpenAiError.classify

/** Finds the error in a body or an event: a reported error, or a reply that ended with an error. `undefined` if there is none. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  const error = reported(source, answer, json)
  if (error !== undefined) return error
  const choice = firstChoice(json)
  const reason = Json.text(Json.field(choice, "finish_reason"))
  const refusal = refusalOf(Json.field(choice, "message")) ?? refusalOf(Json.field(choice, "delta"))
  return ended(source, answer, { reason, refusal, filters: FilterResults.ofReply(json, choice) })
}

/** The text with which a model refuses, in a message or a delta. It is a field beside the content, or a part of the content. */
export const refusalOf = (message: Schema.Json | undefined): string | undefined =>
  Json.text(Json.field(message, "refusal")) ??
  Json.text(
    Json.items(Json.field(message, "content"))
      .map((part) => Json.text(Json.field(part, "refusal")) ?? "")
      .join("")
  )

/** The error that a body or an event reports, at its top or in its choice. The error has the usage of the attempt so far. */
export const reported = (
  source: Source,
  answer: Answer,
  json: Schema.Json,
  usage?: Usage.Usage,
  event?: string
): LlmError | undefined => {
  const read = (json: Schema.Json): Report | undefined => {
    const report = OpenAiError.format.read(json)
    return report === undefined || usage === undefined ? report : { ...report, usage }
  }
  const flat = isFlat(json, event) ? read(json) : undefined
  return (
    ErrorBody.inside({ codes, read }, source, answer, json) ??
    ErrorBody.inside({ codes, read }, source, answer, { error: Json.field(firstChoice(json), "error") ?? null }) ??
    (flat === undefined ? undefined : OpenAiError.failure(source, answer, flat))
  )
}

/**
 * Whether the fields of an error are at the top of a body. Some servers do this, and mark the error by `object`, `type` or the name of the
 * event.
 */
const isFlat = (json: Schema.Json, event: string | undefined): boolean =>
  event === "error" || Json.field(json, "object") === "error" || Json.field(json, "type") === "error"

/**
 * The error of a reply that was refused or broken off; `undefined` for any other reply. A refusal is a `ContentFilteredError`, although its
 * finish reason is `stop`.
 */
export const ended = (
  source: Source,
  answer: Answer,
  { filters, reason, refusal, usage }: Ending
): LlmError | undefined => {
  const failed = (code: string, text: string) =>
    OpenAiError.failure(source, answer, { codes: [code], text, filters, usage })
  if (refusal !== undefined) return failed("refusal", refusal)
  if (reason === "content_filter") return failed(reason, "a content filter cut the reply off")
  if (reason === "error") return failed("server_error", "the model broke off the reply")
  if (reason !== "insufficient_system_resource") return undefined
  return failed(reason, "the answer was broken off by load")
}

/** How a reply ended: the finish reason and the refusal in the provider's words, the results of filters, and the usage. */
export interface Ending {
  readonly reason: string | undefined
  readonly refusal: string | undefined
  /** The results of the server's content filters for this reply. */
  readonly filters: FilterResults.Filters
  readonly usage?: Usage.Usage | undefined
}

/**
 * The first choice of a reply: only one is requested. If no choice has the index 0, it is the first choice with a whole message, but never
 * one with a piece.
 */
export const firstChoice = (body: Schema.Json): Schema.Json | undefined => {
  const choices = Json.items(Json.field(body, "choices"))
  return (
    choices.find((choice) => (Json.count(Json.field(choice, "index")) ?? 0) === 0) ??
    choices.find((choice) => Predicate.isObject(Json.field(choice, "message")))
  )
}
