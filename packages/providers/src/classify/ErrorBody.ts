/**
 * The error bodies of all wire formats, as far as they are alike: an `error` that is an object or a text, or the fields of
 * one at the top. What only one format has is read by its own module.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../transport/Answer.ts"
import * as Classify from "./Classify.ts"
import type { Codes, Report } from "./Report.ts"
import type { Source } from "../transport/Source.ts"
import * as ErrorDetails from "./details.ts"
import * as Json from "../transport/Json.ts"

/** How one wire format speaks of errors. */
export interface Format {
  readonly codes: Codes
  /** What a body says; `undefined` if it says nothing of an error. */
  readonly read: (json: Schema.Json) => Report | undefined
}

/** The error of any answer: its body may also be a foreign page, cut off, or empty. */
export const classify = ({ codes, read }: Format, source: Source, answer: Answer): LlmError => {
  const body = Json.parse(answer.body)
  const report = Result.isSuccess(body) ? read(body.success) : undefined
  return Classify.failure(source, answer, report ?? { codes: [], text: plain(answer.body) }, codes)
}

/** The error under `error` in the body of a success or in an event, if there is one. */
export const inside = (
  { codes, read }: Format,
  source: Source,
  answer: Answer,
  json: Schema.Json
): LlmError | undefined => {
  const report = holdsError(json) ? read(json) : undefined
  return report === undefined ? undefined : Classify.failure(source, answer, report, codes)
}

const holdsError = (json: Schema.Json): boolean => {
  const error = Json.field(unwrapped(json), "error")
  return error !== undefined && error !== null && error !== "" && error !== false
}

/** The words of a body that is no JSON; the page of some gateway has none. */
export const plain = (body: string): string => {
  const text = body.trim()
  return text.startsWith("<") ? "" : text
}

/** The error itself: an object, a text, or the body where its fields stand at the top. */
export const errorOf = (json: Schema.Json): Schema.Json => {
  const body = unwrapped(json)
  const error = Json.field(body, "error")
  return Predicate.isObject(error) || Predicate.isString(error) ? error : body
}

/** Gemini answers a stream that is no event stream with a list. */
const unwrapped = (json: Schema.Json): Schema.Json => {
  const items = Json.items(json)
  return items.find((item) => Json.field(item, "error") !== undefined) ?? items[0] ?? json
}

/** What every format tells in the same way. */
export const reportOf = (json: Schema.Json): Report | undefined => {
  const error = errorOf(json)
  if (!Predicate.isString(error) && !Predicate.isObject(error)) return undefined
  const body = unwrapped(json)
  // beside a text stand the names that an object would hold
  const fields = Predicate.isString(error) ? body : error
  const text = Predicate.isString(error) ? error : wordsOf(error)
  const details = ErrorDetails.read(error, text)
  const param = Json.text(Json.field(fields, "param"))
  const status = statusOf(Json.field(fields, "code")) ?? statusOf(Json.field(fields, "status"))
  const requestId = Json.text(Json.field(body, "request_id"))
  return {
    codes: [
      ...details.codes,
      Json.text(Json.field(Json.field(fields, "innererror"), "code")),
      codeOf(fields),
      Json.text(Json.field(fields, "type")),
      Json.text(Json.field(fields, "status")),
      // some send a name where others send a sentence
      /^[a-z]+(?:_[a-z]+)+$/.test(text) ? text : undefined
    ].filter(Predicate.isNotUndefined),
    text,
    ...(details.retryAfter === undefined ? {} : { retryAfter: details.retryAfter }),
    ...(status === undefined ? {} : { status }),
    ...(param === undefined ? {} : { param }),
    ...(requestId === undefined ? {} : { requestId })
  }
}

const wordsOf = (error: Schema.Json): string =>
  Json.text(Json.field(error, "message")) ?? Json.text(Json.field(error, "detail")) ?? listed(error)

/** What validators list, one entry for each field. */
const listed = (error: Schema.Json): string =>
  ["detail", "errors"]
    .flatMap((key) => Json.items(Json.field(error, key)))
    .flatMap(
      (item) => Json.text(item) ?? Json.text(Json.field(item, "msg")) ?? Json.text(Json.field(item, "message")) ?? []
    )
    .join("; ")

/** DeepSeek gives this name of a type for the code of everything, a wrong key included. */
const codeOf = (fields: Schema.Json): string | undefined => {
  const code = Json.text(Json.field(fields, "code"))
  return code === "invalid_request_error" ? undefined : code
}

const statusOf = (code: Schema.Json | undefined): number | undefined => {
  const status = Predicate.isString(code) && /^\d{3}$/.test(code) ? Number(code) : Json.count(code)
  return status !== undefined && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined
}
