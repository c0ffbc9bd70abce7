/** Maps errors of this library to errors of `effect/ai`, where the reason alone decides about retries. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as AiError from "effect/ai/AiError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { type Instant, millisOf } from "./fromError.ts"
import { writtenDown } from "./original.ts"

/** The names of the module and the method that failed, and the time. */
export interface At {
  /** The name of the module that failed; `Model` by default. */
  readonly module?: string
  /** The name of the method that failed; `generate` by default. */
  readonly method?: string
  /** The current time. This library states how long to wait for a quota, `effect/ai` the instant at which the quota resets. */
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
  // If the server forbids a retry that this kind of error would allow, a reason that does not allow it replaces the nearest one; the
  // reverse holds too.
  const reason = nearest.isRetryable === isRetryable ? nearest : plain(error)
  if (retryAfter !== undefined && !("retryAfter" in reason)) define(reason, "retryAfter", retryAfter)
  return define(reason, "cause", error)
}

/** Adds a property to a reason. `AiError` reads these properties from reasons of every class, although not every class declares them. */
const define = (reason: AiError.AiErrorReason, key: string, value: unknown): AiError.AiErrorReason =>
  Object.defineProperty(reason, key, { value, configurable: true, writable: true })

/** A reason with a description only, whose class allows a retry if the error does. */
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

/** The context of a model error for `effect/ai`. The error itself is in the metadata, so that it survives serialisation. */
const contextOf = (error: LlmError.LlmError) => {
  const { requestId, status } = error
  const metadata = writtenDown(error)
  if (status === undefined || !Number.isSafeInteger(status)) return { metadata }
  return {
    metadata,
    http: { response: { status, headers: requestId === undefined ? {} : { "x-request-id": requestId } } }
  }
}
