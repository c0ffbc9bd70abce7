/** Maps failures of `effect/ai` to errors of this library, which allow a retry if `effect/ai` does, after the same wait. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as RetryAfter from "@kintsugi/core/RetryAfter"
import * as Usage from "@kintsugi/core/Usage"
import type * as AiError from "effect/ai/AiError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Answer } from "../transport/Answer.ts"
import * as Classify from "../classify/Classify.ts"
import * as Hints from "../transport/Hints.ts"
import * as Source from "../transport/Source.ts"
import { build } from "../classify/Build.ts"
import { errorOf, plain } from "../classify/ErrorBody.ts"
import { originalOf } from "./original.ts"
import * as Json from "../transport/Json.ts"

/** The name and the provider of the model that failed, and the time. */
export interface Failed {
  /** The model's name; `unknown` by default. */
  readonly model?: string | undefined
  /** The provider's name; `effect/ai` by default. */
  readonly provider?: string | undefined
  /** The current time. `effect/ai` states the instant at which a quota resets, this library how long to wait for it. */
  readonly now: Instant
}

/** An instant: milliseconds since the epoch, or a date. */
export type Instant = NonNullable<Parameters<typeof RetryAfter.parse>[1]>

export const fromAiError = (error: AiError.AiError, failed: Failed): LlmError.LlmError => {
  const { reason } = error
  const original = originalOf(reason)
  if (original !== undefined && original.isRetryable === reason.isRetryable) return original
  return ofReason(error, { model: "unknown", ...defined(failed), now: failed.now })
}

interface Defined {
  readonly model: string
  readonly provider?: string
  readonly now: Instant
}

const defined = ({ model, provider }: Failed): { readonly model?: string; readonly provider?: string } => ({
  ...(model === undefined ? {} : { model }),
  ...(provider === undefined ? {} : { provider })
})

const ofReason = (error: AiError.AiError, failed: Defined): LlmError.LlmError => {
  const { reason } = error
  const { model, provider = "effect/ai" } = failed
  const http = "http" in reason ? reason.http : undefined
  const answer = answerOf(http, failed.now)
  const from = originOf(error, answer, { ...failed, provider })
  const words = from.detail ?? ""
  switch (reason._tag) {
    case "RateLimitError":
      return LlmError.RateLimitError.make({
        service: provider,
        ...from,
        model,
        remainingQuota: Hints.remaining(answer)
      })
    case "QuotaExhaustedError": {
      const reset = reason.resetAt === undefined ? undefined : until(reason.resetAt, failed.now)
      return LlmError.QuotaExhaustedError.make({
        model,
        ...from,
        ...(reset === undefined ? {} : { resetAfter: reset })
      })
    }
    case "AuthenticationError":
      return LlmError.AuthenticationError.make({ model, detail: reason.kind, ...from })
    case "ContentPolicyError":
      return LlmError.ContentFilteredError.make({ model, detail: words, ...from })
    case "NetworkError":
      return reason.reason === "TransportError"
        ? LlmError.NetworkError.make({ ...peerOf(reason.url, provider), what: "The connection failed", ...from, model })
        : LlmError.InvalidRequestError.make({ model, detail: words, ...from })
    case "InvalidRequestError":
    case "InternalProviderError":
    case "UnknownError":
      return refined(error, answer, { ...failed, provider }, from)
    case "UnsupportedSchemaError":
      return LlmError.CapabilityMismatchError.make({ model, provider, ...from, capability: "structuredOutput" })
    case "InvalidOutputError":
    case "ToolNotFoundError":
    case "ToolParameterValidationError":
      return LlmError.UnknownLlmError.make({
        model,
        detail: words,
        ...from,
        what: `The reply of model '${model}' could not be read`
      })
    case "StructuredOutputError": {
      const { responseText } = reason
      const unread = LlmError.UnknownLlmError.make({
        model,
        detail: words,
        ...from,
        what: `The reply of model '${model}' could not be read`
      })
      return responseText === "" ? unread : withText(unread, responseText)
    }
    case "InvalidResponseError":
      return LlmError.UnknownLlmError.make({
        model,
        detail: words,
        ...from,
        shouldRetry: false,
        what: `The reply of model '${model}' could not be read`
      })
    case "InvalidToolResultError":
    case "ToolResultEncodingError":
    case "ToolConfigurationError":
    case "ToolkitRequiredError":
    case "InvalidUserInputError":
      return LlmError.InvalidRequestError.make({ model, detail: words, ...from })
  }
}

/**
 * Classifies failures that have no reason of their own in `effect/ai` (a context that is too long, an overload, a missing model) by the
 * provider's message and status. If the found error would allow a retry where `effect/ai` forbids it, or the reverse, it is not used.
 */
const refined = (
  error: AiError.AiError,
  answer: Answer,
  failed: Defined & { readonly provider: string },
  from: Origin
): LlmError.LlmError => {
  const { isRetryable } = error.reason
  const { model, provider } = failed
  const report = reportOf(error, answer)
  const source: Source.Source = { model, provider, secrets: [] }
  const text = Source.quote(report.text)
  const tag = Classify.tagOf(report, answer.status, {})
  if (!unclear.has(tag)) {
    const found = build(tag, { source, report, text, answer, facts: { ...from, provider } })
    if (found.isRetryable === isRetryable) return found
  }
  if (error.reason._tag === "InvalidRequestError")
    return LlmError.InvalidRequestError.make({ model, detail: text, ...from })
  return error.reason._tag === "InternalProviderError"
    ? LlmError.ServerError.make({ model, cause: error, ...from })
    : LlmError.UnknownLlmError.make({ model, cause: error, ...from, shouldRetry: false })
}

/**
 * Tags that carry less information than the reason of `effect/ai`: the elapsed time of a timeout is unknown here, and an unknown error has
 * no details.
 */
const unclear: ReadonlySet<string> = new Set(["RequestTimeoutError", "UnknownLlmError"])

/** Copies an error and adds the partial text of its reply. */
const withText = (error: LlmError.UnknownLlmError, partial: string): LlmError.UnknownLlmError =>
  new LlmError.UnknownLlmError({ ...error, message: error.message, cause: error.cause, partial })

/** The HTTP answer, as far as the error of `effect/ai` has it; the status is 0 if it has none. */
const answerOf = (http: typeof AiError.HttpContext.Type | undefined, now: Instant): Answer => ({
  status: http?.response?.status ?? 0,
  headers: Object.fromEntries(
    Object.entries(http?.response?.headers ?? {}).flatMap(([name, value]) =>
      // redacted headers are left out
      Predicate.isString(value) ? [[name.toLowerCase(), value]] : []
    )
  ),
  body: http?.body ?? "",
  at: millisOf(now),
  elapsed: Duration.zero
})

/** The fields of a model error that describe the provider's answer. */
type Origin = Pick<
  LlmError.ServerError,
  "provider" | "requestId" | "status" | "retryAfter" | "detail" | "usage" | "cause"
>

const originOf = (error: AiError.AiError, answer: Answer, { provider }: { readonly provider: string }): Origin => {
  const { reason } = error
  const retryAfter = error.retryAfter ?? (answer.status === 0 ? undefined : Hints.of(answer))
  const requestId = answer.headers["x-request-id"] ?? answer.headers["request-id"]
  const detail = Source.quote(sayingOf(error))
  const usage = "usage" in reason ? reason.usage : undefined
  return {
    provider,
    ...(answer.status === 0 ? {} : { status: answer.status }),
    ...(requestId === undefined ? {} : { requestId: Source.quote(requestId) }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(detail === "" ? {} : { detail }),
    ...(usage === undefined
      ? {}
      : { usage: Usage.make({ inputTokens: usage.promptTokens ?? 0, outputTokens: usage.completionTokens ?? 0 }) }),
    cause: error
  }
}

/** The provider's own message, without the text that `effect/ai` puts around it. */
const sayingOf = ({ reason }: AiError.AiError): string =>
  "description" in reason ? (reason.description ?? "") : "http" in reason ? "" : reason.message

const reportOf = (error: AiError.AiError, answer: Answer) => {
  const parsed = Json.parse(answer.body)
  const inBody = Result.isSuccess(parsed) ? errorOf(parsed.success) : undefined
  const said = Predicate.isString(inBody) ? inBody : Json.text(Json.field(inBody, "message"))
  const codes = ["code", "type", "status"].flatMap((key) => Json.text(Json.field(inBody, key)) ?? [])
  const words = Result.isSuccess(parsed) ? said : plain(answer.body)
  return { codes, text: [sayingOf(error), words].filter(Predicate.isTruthy).join(": ") }
}

/** The host of a URL. An invalid URL is left out, because it may hold a secret. */
const peerOf = (url: string, otherwise: string): { readonly host: string; readonly port?: number } => {
  const parsed = Result.try(() => new URL(url))
  if (Result.isFailure(parsed) || parsed.success.hostname === "") return { host: otherwise }
  const { hostname, port } = parsed.success
  return { host: hostname, ...(port === "" ? {} : { port: Number(port) }) }
}

const until = (instant: DateTime.DateTime, now: Instant): Duration.Duration =>
  Duration.millis(Math.max(0, DateTime.toEpochMillis(instant) - millisOf(now)))

export const millisOf = (instant: Instant): number =>
  Predicate.isNumber(instant)
    ? instant
    : Predicate.isDate(instant)
      ? instant.getTime()
      : DateTime.toEpochMillis(instant)
