/**
 * From what a provider said to one tag. Its own code or type decides before its words do, and its words before the
 * status: the status alone is wrong for a missing model with 400, a spent quota with 429, an overload with 429.
 */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Answer from "../transport/Answer.ts"
import * as Hints from "../transport/Hints.ts"
import * as ErrorText from "./text.ts"
import { build } from "./Build.ts"
import type { Codes, Report, Tag } from "./Report.ts"
import * as Source from "../transport/Source.ts"

/** Every failure that a provider reports, as exactly one error; total. */
export const failure = (
  source: Source.Source,
  given: Answer.Answer,
  report: Report,
  codes: Codes
): LlmError.LlmError => {
  const status = statusOf(report, given)
  // the headers of a success speak of other things than the error in its body, whose own may lie within
  const own = Answer.isSuccess(given) ? {} : given.headers
  const answer = { ...given, status, headers: { ...report.headers, ...own } }
  const text = Source.quote(report.text)
  const tag = tagOf(report, status, codes)
  const hint = Hints.of(answer, tellsWaits.has(tag) ? report.text : "", report.retryAfter)
  const requestId = idIn(Answer.requestId(given) ?? report.requestId)
  return build(tag, {
    source,
    report,
    text,
    answer,
    facts: {
      provider: source.provider,
      status,
      ...(requestId === undefined ? {} : { requestId }),
      ...(hint === undefined ? {} : { retryAfter: hint }),
      ...(Hints.forbidsResend(given) ? { shouldRetry: false } : {}),
      ...(text === "" ? {} : { detail: text }),
      ...(Usage.isSound(report.usage) ? { usage: report.usage } : {})
    }
  })
}

/** An answer that claims success and cannot be read. */
export const undecodable = (source: Source.Source, answer: Answer.Answer, cause: unknown): LlmError.LlmError => {
  const requestId = idIn(Answer.requestId(answer))
  // first scrubbed, then cut: half a secret would not be known again
  const detail = ErrorCause.cut(Source.quote(answer.body), 200)
  const told = withoutSnippet(cause)
  const why = Source.quote(ErrorCause.messageOf(told))
  return LlmError.UnknownLlmError.unreadable(source.model, why, {
    provider: source.provider,
    status: answer.status,
    ...(requestId === undefined ? {} : { requestId }),
    ...(detail === "" ? {} : { detail }),
    cause: Source.scrubCause(told)
  })
}

/** A parser quotes the text around what it could not read, cut anywhere; where that was is enough. */
const withoutSnippet = (cause: unknown): unknown => {
  if (!Predicate.isError(cause) || cause.name !== "SyntaxError") return cause
  const at = /\bat position (\d+)/.exec(cause.message)?.[1]
  const message = `it is no JSON${at === undefined ? "" : ` at position ${at}`}`
  return new ErrorCause.ForeignError({ name: "SyntaxError", message })
}

/** Errors whose words may say how long to wait. Those of any other may quote a model or a tool. */
const tellsWaits: ReadonlySet<Tag> = new Set<Tag>([
  "RateLimitError",
  "QuotaExhaustedError",
  "ModelOverloadedError",
  "ServerError"
])

const idIn = (requestId: string | undefined): string | undefined =>
  requestId === undefined ? undefined : Source.quote(requestId)

const statusOf = (report: Report, answer: Answer.Answer): number =>
  report.status !== undefined && report.status >= 400 && report.status < 600 ? report.status : answer.status

/** The tag of a report that came with `status`. */
export const tagOf = (report: Report, status: number, codes: Codes): Tag => {
  const found = fromCodes(report.codes, codes) ?? ErrorText.tagOf(report.text) ?? fromVague(report.codes, status)
  return ErrorText.refine(found ?? fromStatus(status), report)
}

/** The first name that is known; beside the name of a quota that of a rate limit says nothing. */
const fromCodes = (names: ReadonlyArray<string>, codes: Codes): Tag | undefined => {
  const known = names.map((name) => name.toLowerCase()).filter((name) => Object.hasOwn(codes, name))
  const tags = known.map((name) => codes[name])
  return tags[0] === "RateLimitError" && tags.includes("QuotaExhaustedError") ? "QuotaExhaustedError" : tags[0]
}

/**
 * Names that providers give to several kinds of errors. The text decides before them, and a status that says more does:
 * a missing key is an "invalid request" with 401, an overload a "server error" with 503.
 */
const fromVague = (names: ReadonlyArray<string>, status: number): Tag | undefined => {
  const vague = names.map((name) => name.toLowerCase())
  const request = vague.findIndex((name) => vagueRequests.has(name))
  const server = vague.findIndex((name) => vagueServers.has(name))
  if (request !== -1 && (server === -1 || request < server)) {
    return sayMore.has(status) ? fromStatus(status) : "InvalidRequestError"
  }
  if (server === -1) return undefined
  return status >= 500 ? fromStatus(status) : "ServerError"
}

const vagueRequests: ReadonlySet<string> = new Set([
  "invalid_request_error",
  "invalid_argument",
  "failed_precondition",
  "out_of_range"
])

const vagueServers: ReadonlySet<string> = new Set([
  "server_error",
  "api_error",
  "internal_error",
  "internal_server_error",
  "internal"
])

const sayMore: ReadonlySet<number> = new Set([401, 402, 403, 408, 413, 429])

/** What a status means where nothing else is known; total. */
export const fromStatus = (status: number): Tag => {
  const known = statuses[status]
  if (known !== undefined) return known
  if (status >= 300 && status < 500) return "InvalidRequestError"
  return status >= 500 && status < 600 ? "ServerError" : "UnknownLlmError"
}

const statuses: Readonly<Record<number, Tag>> = {
  401: "AuthenticationError",
  402: "QuotaExhaustedError",
  403: "AuthenticationError",
  404: "ModelNotFoundError",
  408: "RequestTimeoutError",
  410: "ModelNotFoundError",
  413: "ContextTooLongError",
  425: "UnknownLlmError",
  429: "RateLimitError",
  503: "ModelOverloadedError",
  529: "ModelOverloadedError"
}
