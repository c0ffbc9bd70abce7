/**
 * Maps a provider's answer to the tag of an error. A code or type in the body decides first, then the text of the message, then the status.
 * The status alone would be wrong: providers send 400 for a missing model, and 429 for a spent quota or an overload.
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

/**
 * Makes the error of an answer that reports a failure. It never throws. `report` is the error as the codec has read it from the body.
 * `codes` maps the error names of the format, in lower case, to tags. A known code decides, then the text of the report, then the status.
 * The error has the wait that the server asks for, and no secret of `source`.
 */
export const failure = (
  source: Source.Source,
  given: Answer.Answer,
  report: Report,
  codes: Codes
): LlmError.LlmError => {
  const status = report.status ?? given.status
  // The headers of a successful answer do not describe an error in its body. If the body itself has headers, they are used.
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

/** Makes the error of a successful answer whose body cannot be read. `cause` says why. */
export const undecodable = (source: Source.Source, answer: Answer.Answer, cause: unknown): LlmError.LlmError => {
  const requestId = idIn(Answer.requestId(answer))
  // The text is redacted before it is cut, because redaction would not recognise half of a secret.
  const detail = ErrorCause.cut(Source.quote(answer.body), 200)
  const shown = withoutSnippet(cause)
  const why = Source.quote(ErrorCause.messageOf(shown))
  // what is not JSON may be the page of another server: the base URL may be wrong
  const from = answer.url === undefined || shown === cause ? "" : ` from ${Source.quote(answer.url)}`
  return LlmError.UnknownLlmError.make({
    model: source.model,
    words: why,
    provider: source.provider,
    status: answer.status,
    ...(requestId === undefined ? {} : { requestId }),
    detail,
    cause: Source.scrubCause(shown),
    what: `The reply of model '${source.model}'${from} could not be read`
  })
}

/** Makes the error of a reply that asks the client for something that no tool can give. `kind` is the provider's name for it. */
export const unanswerable = (
  source: Source.Source,
  answer: Answer.Answer,
  kind: string,
  usage: Usage.Usage | undefined
): LlmError.LlmError => {
  const { model, provider } = source
  const requestId = idIn(Answer.requestId(answer))
  const shown = Source.quote(kind)
  return LlmError.CapabilityMismatchError.make({
    model,
    provider,
    capability: "tools",
    what: `Model '${model}' of ${provider} waits for an answer to '${shown}'`,
    detail: shown,
    words: "no tool of the agent has this kind",
    ...(requestId === undefined ? {} : { requestId }),
    ...(Usage.isSound(usage) ? { usage } : {})
  })
}

/** Removes the quoted text from the error of a JSON parser. The quote may contain a part of a secret, so only the position stays. */
const withoutSnippet = (cause: unknown): unknown => {
  if (!Predicate.isError(cause) || cause.name !== "SyntaxError") return cause
  const at = /\bat position (\d+)/.exec(cause.message)?.[1]
  const message = `it is not JSON${at === undefined ? "" : ` at position ${at}`}`
  return new ErrorCause.ForeignError({ name: "SyntaxError", message })
}

/** The errors whose message may state a wait. Messages of other errors may quote text of a model or a tool, which may look like a wait. */
const tellsWaits: ReadonlySet<Tag> = new Set<Tag>([
  "RateLimitError",
  "QuotaExhaustedError",
  "ModelOverloadedError",
  "ServerError"
])

const idIn = (requestId: string | undefined): string | undefined =>
  requestId === undefined ? undefined : Source.quote(requestId)

/** The tag of an error report, with the HTTP status of its answer. */
export const tagOf = (report: Report, status: number, codes: Codes): Tag => {
  const found = fromCodes(report.codes, codes) ?? ErrorText.tagOf(report.text) ?? fromVague(report.codes, status)
  const tag = ErrorText.refine(found ?? fromStatus(status), report)
  return tag === "ModelOverloadedError" && status === 429 && isTooFast(report, codes) ? "RateLimitError" : tag
}

/**
 * Whether the server asks for a lower rate of requests. With status 429 that is a rate limit and no overload: OpenAI has the code
 * `slow_down` with the type `rate_limit_error` (its guide to error codes, looked up on 2026-11-26). If the report has another code that is
 * known, that code decides.
 */
const isTooFast = ({ codes: names, text }: Report, codes: Codes): boolean =>
  names.some((name) => name.toLowerCase() === "slow_down") ||
  (fromCodes(names, codes) === undefined && fromVague(names, 500) === undefined && ErrorText.asksForLess(text))

/** The tag of the first code that the format knows. A quota wins over a rate limit in the same report. */
const fromCodes = (names: ReadonlyArray<string>, codes: Codes): Tag | undefined => {
  const recognised = names.map((name) => name.toLowerCase()).filter((name) => Object.hasOwn(codes, name))
  const tags = recognised.map((name) => codes[name])
  return tags[0] === "RateLimitError" && tags.includes("QuotaExhaustedError") ? "QuotaExhaustedError" : tags[0]
}

/**
 * The tag of a code that providers use for several kinds of errors. The text of the message decides before such a code, and so does a more
 * specific status: a missing key has the code "invalid request" with 401, an overload "server error" with 503.
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

/** The tag of an HTTP status, when nothing else is known about the error. Every status has one. */
export const fromStatus = (status: number): Tag => {
  const tag = statuses[status]
  if (tag !== undefined) return tag
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
