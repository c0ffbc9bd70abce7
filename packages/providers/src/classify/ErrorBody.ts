/**
 * Reads the parts of error bodies that all wire formats share: an `error` that is an object or a text, or the fields of an error at the top
 * of the body. The module of each format reads its own parts.
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
import { firewallPage } from "./ownCodes.ts"

/** How one wire format reports errors. */
export interface Format {
  readonly codes: Codes
  /** Reads the error in the JSON of a body; `undefined` if there is none. */
  readonly read: (json: Schema.Json) => Report | undefined
}

/** Makes the error of a failed answer. The body may also be truncated, empty, or a page of another server. */
export const classify = ({ codes, read }: Format, source: Source, answer: Answer): LlmError => {
  const body = Json.parse(answer.body)
  const report = Result.isSuccess(body) ? read(body.success) : undefined
  const page = pageOf(answer)
  if (page !== undefined) return Classify.failure(source, answer, page, { [firewallPage]: "NetworkError" })
  return Classify.failure(source, answer, report ?? { codes: [], text: plain(answer.body) }, codes)
}

/** Makes the error that a successful answer or an event has under `error`; `undefined` if there is none. */
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

/** Recognises the HTML page with which a firewall or a proxy refuses a request. Its status 403 does not mean that the API key is wrong. */
const pageOf = ({ body, status }: Answer): Report | undefined => {
  if (status !== 403 || !/^\s*<(?:!doctype html|html)\b/i.test(body)) return undefined
  const title = /<title[^<>]{0,200}>([^<]{0,500})</i.exec(body.slice(0, 10_000))?.[1] ?? ""
  return { codes: [firewallPage], text: title.trim().replaceAll(/\s+/g, " ") }
}

/** The error message of a body that is not JSON. An HTML page of a gateway has none. */
export const plain = (body: string): string => {
  const text = body.trim()
  return text.startsWith("<") ? "" : text
}

/** The error in a body: the object or text under `error`, or the whole body if the fields of the error are at its top. */
export const errorOf = (json: Schema.Json): Schema.Json => {
  const body = unwrapped(json)
  const error = Json.field(body, "error")
  return Predicate.isObject(error) || Predicate.isString(error) ? error : body
}

/** Takes the item with the error out of a list. Gemini sends a list instead of an event stream if the URL lacks `alt=sse`. */
const unwrapped = (json: Schema.Json): Schema.Json => {
  const items = Json.items(json)
  return items.find((item) => Json.field(item, "error") !== undefined) ?? items[0] ?? json
}

/** Reads the fields of an error that all formats share. */
export const reportOf = (json: Schema.Json): Report | undefined => {
  const error = errorOf(json)
  if (!Predicate.isString(error) && !Predicate.isObject(error)) return undefined
  const body = unwrapped(json)
  // if `error` is a text, the other fields of the error are next to it in the body
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
      // Anthropic reports a spent limit with the type of a rate limit, and only this code shows the difference
      Json.text(Json.field(Json.field(fields, "details"), "error_code")),
      codeOf(fields),
      Json.text(Json.field(fields, "type")),
      Json.text(Json.field(fields, "status")),
      // some servers send a code in the place of the message
      /^[a-z]+(?:_[a-z]+)+$/.test(text) ? text : undefined
    ].filter(Predicate.isNotUndefined),
    text,
    ...(details.retryAfter === undefined ? {} : { retryAfter: details.retryAfter }),
    ...(status === undefined ? {} : { status }),
    ...(param === undefined ? {} : { param }),
    ...(requestId === undefined ? {} : { requestId })
  }
}

/**
 * The message of an error, or the messages of a validator joined, one for each wrong field. FastAPI lists them under `detail`, Mistral also
 * under `message`, as a list or as an object with `detail` (public reports, looked up on 2026-11-26).
 */
const wordsOf = (error: Schema.Json | undefined, levels = 3): string => {
  for (const key of ["message", "msg", "detail", "errors"]) {
    const field = Json.field(error, key)
    const said = Json.text(field) ?? (levels === 0 ? "" : listed(field, levels))
    if (said !== "") return said
  }
  return ""
}

const listed = (field: Schema.Json | undefined, levels: number): string => {
  const items = Array.isArray(field) ? Json.items(field) : [field]
  return items
    .flatMap((item) => {
      const said = Json.text(item) ?? wordsOf(item, levels - 1)
      const named = fieldOf(item)
      return said === "" ? [] : [named === "" ? said : `${named}: ${said}`]
    })
    .join("; ")
}

/** The path of a wrong field in the request's body, such as `messages.0.content`. */
const fieldOf = (item: Schema.Json | undefined): string =>
  Json.items(Json.field(item, "loc"))
    .filter((step, at) => at > 0 || step !== "body")
    .filter((step) => Predicate.isString(step) || Predicate.isNumber(step))
    .join(".")

/**
 * The code of an error. DeepSeek sends `invalid_request_error` as the code of every error, even of a wrong key, so that code is ignored.
 */
const codeOf = (fields: Schema.Json): string | undefined => {
  const code = Json.text(Json.field(fields, "code"))
  return code === "invalid_request_error" ? undefined : code
}

const statusOf = (code: Schema.Json | undefined): number | undefined => {
  const status = Number(Json.text(code) ?? Json.count(code))
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined
}
