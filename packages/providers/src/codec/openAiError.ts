/** The errors of OpenAI's two wire formats: their bodies, and the fields that routers add to them. */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Classify from "../classify/Classify.ts"
import * as ErrorBody from "../classify/ErrorBody.ts"
import type { Report } from "../classify/Report.ts"
import type { Answer } from "../transport/Answer.ts"
import * as Json from "../transport/Json.ts"
import type { Source } from "../transport/Source.ts"
import * as FilterResults from "./filterResults.ts"
import * as FailedGeneration from "./failedGeneration.ts"
import { codes } from "./openAiErrorCodes.ts"

/** Makes the error of any failed answer, even of one with an unreadable body. */
export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

export const failure = (source: Source, answer: Answer, report: Report): LlmError =>
  Classify.failure(source, answer, report, codes)

/** Reads an error body: the usual fields, and those that routers add about the servers behind them. */
const reportOf = (json: Schema.Json): Report | undefined => {
  const own = ErrorBody.reportOf(json)
  if (own === undefined) return undefined
  const error = ErrorBody.errorOf(json)
  const metadata = Json.field(error, "metadata")
  const upstream = upstreamOf(Json.field(metadata, "raw"))
  return {
    ...upstream,
    ...own,
    codes: [...namesIn(metadata), ...own.codes, ...(upstream?.codes ?? [])],
    text: [own.text, upstream?.text ?? ""].filter((text) => text !== "").join(": "),
    headers: headersIn(metadata),
    filters: FilterResults.ofError(error),
    ...FailedGeneration.read(Json.text(Json.field(error, "failed_generation")))
  }
}

/** Codes for the errors that OpenRouter sends without a code: the name of the reached limit, or that the request was flagged. */
const namesIn = (metadata: Schema.Json | undefined): ReadonlyArray<string> => {
  const limit = Json.text(Json.field(metadata, "limit_source"))
  const flagged =
    Json.items(Json.field(metadata, "reasons")).length > 0 ||
    Json.text(Json.field(metadata, "flagged_input")) !== undefined
  return [...(limit === undefined ? [] : [limit]), ...(flagged ? ["flagged_input"] : [])]
}

const headersIn = (metadata: Schema.Json | undefined): Readonly<Record<string, string>> => {
  const headers = Json.field(metadata, "headers")
  if (!Predicate.isObject(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (Predicate.isString(value) ? [[name.toLowerCase(), value]] : []))
  )
}

/** The error of the provider behind a router: from its body as JSON, or from its text. */
const upstreamOf = (raw: Schema.Json | undefined): Report | undefined => {
  const text = Json.text(raw)
  if (text === undefined) return ErrorBody.reportOf(raw ?? null)
  const body = Json.parse(text)
  const report = Result.isSuccess(body) ? ErrorBody.reportOf(body.success) : undefined
  return report === undefined || report.text === "" ? { codes: [], ...report, text: ErrorBody.plain(text) } : report
}

export const format: ErrorBody.Format = { codes, read: reportOf }
