/** Maps errors of this library to those of `effect/ai`, whose reason alone decides about retries. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as AiError from "effect/ai/AiError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { type Instant, millisOf } from "./fromError.ts"
import { writtenDown } from "./original.ts"

/** The origin of a failure, and the time. */
export interface At {
  /** `Model` by default. */
  readonly module?: string
  /** `generate` by default. */
  readonly method?: string
  /** The current time: the reset of a quota is a wait here and an instant there. */
  readonly now: Instant
}

export const toAiError = (error: LlmError.LlmError, { method = "generate", module = "Model", now }: At) => {
  const { cause } = error
  const isSame = AiError.isAiError(cause) && cause.isRetryable === error.isRetryable
  if (isSame && isSameWait(cause.retryAfter, error.retryAfter)) return cause
  return AiError.make({ module, method, reason: reasonOf(error, now) })
}

const isSameWait = (one: Duration.Duration | undefined, other: Duration.Duration | undefined): boolean =>
  one === undefined ? other === undefined : other !== undefined && Duration.equals(one, other)

const reasonOf = (error: LlmError.LlmError, now: Instant): AiError.AiErrorReason => {
  const nearest = nearestOf(error, now)
  const { isRetryable, retryAfter } = error
  // A server may forbid the retry that its kind of error would allow.
  const reason = nearest.isRetryable === isRetryable ? nearest : plain(error)
  if (retryAfter !== undefined && !("retryAfter" in reason)) define(reason, "retryAfter", retryAfter)
  return define(reason, "cause", error)
}

/** `AiError` reads these properties of its reason, for every class of reason. */
const define = (reason: AiError.AiErrorReason, key: string, value: unknown): AiError.AiErrorReason =>
  Object.defineProperty(reason, key, { value, configurable: true, writable: true })

/** A reason without details, of the right retryability. */
const plain = (error: LlmError.LlmError): AiError.AiErrorReason =>
  error.isRetryable
    ? new AiError.InternalProviderError({ description: error.message, ...contextOf(error) })
    : new AiError.UnknownError({ description: error.message, ...contextOf(error) })

const nearestOf = (error: LlmError.LlmError, now: Instant): AiError.AiErrorReason => {
  const { message: description, retryAfter, status } = error
  const context = contextOf(error)
  switch (error._tag) {
    case "RateLimitError":
      return new AiError.RateLimitError({ ...context, ...(retryAfter === undefined ? {} : { retryAfter }) })
    case "QuotaExhaustedError": {
      const at = DateTime.make(millisOf(now) + Duration.toMillis(error.resetAfter))
      return new AiError.QuotaExhaustedError({ ...context, ...(Option.isSome(at) ? { resetAt: at.value } : {}) })
    }
    case "AuthenticationError":
      return new AiError.AuthenticationError({ kind: kindOf(status), description, ...context })
    case "ContentFilteredError":
      return new AiError.ContentPolicyError({ description, ...context })
    case "ModelNotFoundError":
      return new AiError.InvalidRequestError({ parameter: "model", description, ...context })
    case "InvalidRequestError":
    case "ContextTooLongError":
      return new AiError.InvalidRequestError({ description, ...context })
    case "CapabilityMismatchError":
      return error.capability === "structuredOutput"
        ? new AiError.UnsupportedSchemaError({ description, metadata: context.metadata })
        : new AiError.InvalidRequestError({ description, ...context })
    case "MalformedToolCallError":
    case "EmptyReplyError":
    case "ReplyTooLargeError":
      return new AiError.InvalidResponseError({ description, ...context })
    case "ModelOverloadedError":
    case "ServerError":
      return new AiError.InternalProviderError({ description, ...context })
    case "NetworkError":
    case "RequestTimeoutError":
      return new AiError.NetworkError({ reason: "TransportError", method: "POST", url: urlOf(error), description })
    case "UnknownLlmError":
      return plain(error)
  }
}

const urlOf = (error: LlmError.NetworkError | LlmError.RequestTimeoutError): string =>
  error._tag === "RequestTimeoutError"
    ? (error.provider ?? "")
    : `${error.host}${error.port === undefined ? "" : `:${error.port}`}`

const kindOf = (status: number | undefined): AiError.AuthenticationError["kind"] => {
  if (status === 401) return "InvalidKey"
  return status === 403 ? "InsufficientPermissions" : "Unknown"
}

/** The context of an answer, with the failure itself as metadata for a reader behind a wire. */
const contextOf = (error: LlmError.LlmError) => {
  const { requestId, status } = error
  const metadata = writtenDown(error)
  if (status === undefined || !Number.isSafeInteger(status)) return { metadata }
  return {
    metadata,
    http: { response: { status, headers: requestId === undefined ? {} : { "x-request-id": requestId } } }
  }
}
