/**
 * Reads what the error bodies of all wire formats share: an `error` that is an object or a text, or the fields of an
 * error at the top. The module of each format reads the rest.
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
  /** Reads the error in a body; `undefined` if the body holds none. */
  readonly read: (json: Schema.Json) => Report | undefined
}

/** The error of any answer. Its body may also be a foreign page, truncated or empty. */
export const classify = ({ codes, read }: Format, source: Source, answer: Answer): LlmError => {
  const body = Json.parse(answer.body)
  const report = Result.isSuccess(body) ? read(body.success) : undefined
  const page = report === undefined ? pageOf(answer) : undefined
  if (page !== undefined) return Classify.failure(source, answer, page, { [firewallPage]: "NetworkError" })
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

/** The page with which a firewall or a proxy refuses a request: it says nothing about the key. */
const pageOf = ({ body, status }: Answer): Report | undefined => {
  if (status !== 403 || !/^\s*<(?:!doctype html|html)\b/i.test(body)) return undefined
  const title = /<title[^<>]{0,200}>([^<]{0,500})</i.exec(body.slice(0, 10_000))?.[1] ?? ""
  return { codes: [firewallPage], text: title.trim().replaceAll(/\s+/g, " ") }
}

/** The message in a body that is not JSON. An HTML page of a gateway has none. */
export const plain = (body: string): string => {
  const text = body.trim()
  return text.startsWith("<") ? "" : text
}

/** The error itself: an object, a text, or the body if the error's fields are at the top. */
export const errorOf = (json: Schema.Json): Schema.Json => {
  const body = unwrapped(json)
  const error = Json.field(body, "error")
  return Predicate.isObject(error) || Predicate.isString(error) ? error : body
}

/** Without `alt=sse`, Gemini sends a list instead of an event stream. */
const unwrapped = (json: Schema.Json): Schema.Json => {
  const items = Json.items(json)
  return items.find((item) => Json.field(item, "error") !== undefined) ?? items[0] ?? json
}

/** Reads the fields that all formats share. */
export const reportOf = (json: Schema.Json): Report | undefined => {
  const error = errorOf(json)
  if (!Predicate.isString(error) && !Predicate.isObject(error)) return undefined
  const body = unwrapped(json)
  // Beside an `error` that is a text, the body has the fields that an object would hold.
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
      // Anthropic's spend limit has the type of a rate limit.
      Json.text(Json.field(Json.field(fields, "details"), "error_code")),
      codeOf(fields),
      Json.text(Json.field(fields, "type")),
      Json.text(Json.field(fields, "status")),
      // Some servers send a code where others send a sentence.
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
 * The message, or the messages of a validator, one for each field. FastAPI lists them under `detail`, Mistral also under
 * `message`, as a list or as an object with `detail` (public reports, looked up on 2026-11-26).
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

/** The place of a faulty field within the body of the request. */
const fieldOf = (item: Schema.Json | undefined): string =>
  Json.items(Json.field(item, "loc"))
    .filter((step, at) => at > 0 || step !== "body")
    .filter((step) => Predicate.isString(step) || Predicate.isNumber(step))
    .join(".")

/** DeepSeek sends this type name as the code of all errors, a wrong key included. */
const codeOf = (fields: Schema.Json): string | undefined => {
  const code = Json.text(Json.field(fields, "code"))
  return code === "invalid_request_error" ? undefined : code
}

const statusOf = (code: Schema.Json | undefined): number | undefined => {
  const status = Predicate.isString(code) && /^\d{3}$/.test(code) ? Number(code) : Json.count(code)
  return status !== undefined && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined
}
