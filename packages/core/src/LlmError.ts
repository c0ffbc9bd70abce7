/** Everything that can go wrong with one call of a model, as a closed union of flat tags. */
import * as Schema from "effect/Schema"
import * as ErrorCause from "./ErrorCause.ts"
import { advised, type RecoveryAdvice } from "./RecoveryAdvice.ts"
import * as Duration from "effect/Duration"

/** What is known of the response that carried the failure; each field is absent when nothing was said. */
const origin = {
  message: Schema.String,
  provider: Schema.optionalKey(Schema.String),
  /** The provider's own id of the request, to quote to its support. */
  requestId: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Finite),
  /** How long the server asked to wait. A floor: never shortened. */
  retryAfter: Schema.optionalKey(Schema.Duration),
  /** The provider's own words, capped and masked. */
  detail: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(ErrorCause.ErrorCause)
}

const ofModel = { ...origin, model: Schema.String }

/** The model does not exist, or this key may not use it. */
export class ModelNotFoundError extends advised(
  "ModelNotFoundError",
  Schema.TaggedError<ModelNotFoundError, RecoveryAdvice>()("ModelNotFoundError", ofModel)
) {
  static modelNotFound(model: string): ModelNotFoundError {
    return new ModelNotFoundError({ model, message: `Model '${model}' was not found` })
  }
}

/** The key is missing, wrong, or lacks the permission. */
export class AuthenticationError extends advised(
  "AuthenticationError",
  Schema.TaggedError<AuthenticationError, RecoveryAdvice>()("AuthenticationError", ofModel)
) {
  static authenticationFailed(model: string, message: string): AuthenticationError {
    return new AuthenticationError({ model, message: `Authentication failed for model '${model}': ${message}` })
  }
}

/** The provider's content policy refused the prompt or the answer. */
export class ContentFilteredError extends advised(
  "ContentFilteredError",
  Schema.TaggedError<ContentFilteredError, RecoveryAdvice>()("ContentFilteredError", ofModel)
) {
  static contentFiltered(model: string, message: string): ContentFilteredError {
    return new ContentFilteredError({ model, message: `Model '${model}' filtered the content: ${message}` })
  }
}

/** The provider refused the request as malformed. */
export class InvalidRequestError extends advised(
  "InvalidRequestError",
  Schema.TaggedError<InvalidRequestError, RecoveryAdvice>()("InvalidRequestError", ofModel)
) {
  static invalidRequest(model: string, message: string): InvalidRequestError {
    return new InvalidRequestError({ model, message: `Model '${model}' refused the request: ${message}` })
  }
}

/** The model has no capacity left just now. */
export class ModelOverloadedError extends advised(
  "ModelOverloadedError",
  Schema.TaggedError<ModelOverloadedError, RecoveryAdvice>()("ModelOverloadedError", ofModel)
) {
  static modelOverloaded(model: string): ModelOverloadedError {
    return new ModelOverloadedError({ model, message: `Model '${model}' is overloaded` })
  }
}

/** The conversation does not fit the model's context window. */
export class ContextTooLongError extends advised(
  "ContextTooLongError",
  Schema.TaggedError<ContextTooLongError, RecoveryAdvice>()("ContextTooLongError", {
    ...ofModel,
    /** In tokens, where the provider names it. */
    limit: Schema.optionalKey(Schema.Finite),
    actual: Schema.optionalKey(Schema.Finite)
  })
) {
  static contextTooLong(model: string, limit?: number, actual?: number): ContextTooLongError {
    const sizes = [
      ...(actual === undefined ? [] : [`${actual} tokens sent`]),
      ...(limit === undefined ? [] : [`at most ${limit} admitted`])
    ]
    return new ContextTooLongError({
      model,
      message: `The conversation is too long for model '${model}'${sizes.length === 0 ? "" : `: ${sizes.join(", ")}`}`,
      ...(limit === undefined ? {} : { limit }),
      ...(actual === undefined ? {} : { actual })
    })
  }
}

/** The provider failed on its own side. */
export class ServerError extends advised(
  "ServerError",
  Schema.TaggedError<ServerError, RecoveryAdvice>()("ServerError", ofModel)
) {
  static serverError(model: string, cause: unknown): ServerError {
    const summary = ErrorCause.summarise(cause)
    return new ServerError({
      model,
      message: `The server of model '${model}' failed${summary.message === "" ? "" : `: ${summary.message}`}`,
      cause
    })
  }
}

/** The provider itself rejected the tool call that its model wrote. */
export class MalformedToolCallError extends advised(
  "MalformedToolCallError",
  Schema.TaggedError<MalformedToolCallError, RecoveryAdvice>()("MalformedToolCallError", {
    ...ofModel,
    tool: Schema.String
  })
) {
  static malformedToolCall(model: string, tool: string, message: string, cause?: unknown): MalformedToolCallError {
    return new MalformedToolCallError({
      model,
      tool,
      message: `Model '${model}' wrote a malformed call of tool '${tool}': ${message}`,
      ...(cause === undefined ? {} : { cause })
    })
  }
}

/** What a model may lack. */
export const Capability = Schema.Literals(["streaming", "vision", "structuredOutput", "tools"])
export type Capability = typeof Capability.Type

/** The model cannot do what the request asks for. */
export class CapabilityMismatchError extends advised(
  "CapabilityMismatchError",
  Schema.TaggedError<CapabilityMismatchError, RecoveryAdvice>()("CapabilityMismatchError", {
    ...ofModel,
    provider: Schema.String,
    capability: Capability
  })
) {
  static streamingNotSupported(model: string, provider: string): CapabilityMismatchError {
    return lacking(model, provider, "streaming", "streaming")
  }
  static visionNotSupported(model: string, provider: string): CapabilityMismatchError {
    return lacking(model, provider, "vision", "images")
  }
  static structuredOutputNotSupported(model: string, provider: string): CapabilityMismatchError {
    return lacking(model, provider, "structuredOutput", "structured output")
  }
  static toolCallNotSupported(model: string, provider: string): CapabilityMismatchError {
    return lacking(model, provider, "tools", "tool calls")
  }
}

const lacking = (model: string, provider: string, capability: Capability, what: string): CapabilityMismatchError =>
  new CapabilityMismatchError({
    model,
    provider,
    capability,
    message: `Model '${model}' of ${provider} does not support ${what}`
  })

/** A failure that fits no other tag; the original is its cause. */
export class UnknownLlmError extends advised(
  "UnknownLlmError",
  Schema.TaggedError<UnknownLlmError, RecoveryAdvice>()("UnknownLlmError", ofModel)
) {
  static unknown(model: string, cause: unknown): UnknownLlmError {
    const summary = ErrorCause.summarise(cause)
    return new UnknownLlmError({
      model,
      message: `Model '${model}' failed in an unknown way${summary.message === "" ? "" : `: ${summary.message}`}`,
      cause
    })
  }
}

/** Too many requests: waiting cures it. */
export class RateLimitError extends advised(
  "RateLimitError",
  Schema.TaggedError<RateLimitError, RecoveryAdvice>()("RateLimitError", {
    ...origin,
    service: Schema.String,
    remainingQuota: Schema.optionalKey(Schema.Finite)
  })
) {
  static apiRateLimit(endpoint: string, retryAfter: Duration.Input): RateLimitError {
    const wait = Duration.fromInputUnsafe(retryAfter)
    return new RateLimitError({
      service: endpoint,
      retryAfter: wait,
      message: `'${endpoint}' limits the rate of requests; it asks to wait ${Duration.format(wait)}`
    })
  }
}

/** The account has no credit or quota left: waiting a little does not cure it. */
export class QuotaExhaustedError extends advised(
  "QuotaExhaustedError",
  Schema.TaggedError<QuotaExhaustedError, RecoveryAdvice>()("QuotaExhaustedError", {
    ...ofModel,
    /** When it may be worth looking again; advice, not a hint to wait. */
    resetAfter: Schema.Duration
  })
) {
  static llmQuotaExceeded(model: string): QuotaExhaustedError {
    return new QuotaExhaustedError({
      model,
      resetAfter: Duration.minutes(5),
      message: `The quota for model '${model}' is used up`
    })
  }
}

/** The connection could not be made, or was lost. */
export class NetworkError extends advised(
  "NetworkError",
  Schema.TaggedError<NetworkError, RecoveryAdvice>()("NetworkError", {
    ...origin,
    host: Schema.String,
    port: Schema.optionalKey(Schema.Finite)
  })
) {
  static connectionRefused(host: string, port: number): NetworkError {
    return new NetworkError({ host, port, message: `Connection to ${host}:${port} was refused` })
  }
  static dnsResolutionFailed(host: string, cause: unknown): NetworkError {
    return new NetworkError({ host, cause, message: `The name '${host}' could not be resolved` })
  }
  static connectionTimeout(host: string, port: number, timeout: Duration.Input): NetworkError {
    const limit = Duration.format(Duration.fromInputUnsafe(timeout))
    return new NetworkError({ host, port, message: `Connecting to ${host}:${port} took longer than ${limit}` })
  }
}

/** The answer took longer than the request's total time limit. */
export class RequestTimeoutError extends advised(
  "RequestTimeoutError",
  Schema.TaggedError<RequestTimeoutError, RecoveryAdvice>()("RequestTimeoutError", {
    ...origin,
    operation: Schema.String,
    timeout: Schema.Duration
  })
) {
  static llmTimeout(timeout: Duration.Input): RequestTimeoutError {
    return timedOut("the model call", timeout)
  }
  /** The query string, which may hold a key, is left out of the message. */
  static httpTimeout(url: string, timeout: Duration.Input): RequestTimeoutError {
    return timedOut(url.replace(/[?#].*$/s, ""), timeout)
  }
}

const timedOut = (operation: string, limit: Duration.Input): RequestTimeoutError => {
  const timeout = Duration.fromInputUnsafe(limit)
  return new RequestTimeoutError({
    operation,
    timeout,
    message: `'${operation}' did not answer within ${Duration.format(timeout)}`
  })
}

export type LlmError =
  | ModelNotFoundError
  | AuthenticationError
  | ContentFilteredError
  | InvalidRequestError
  | ModelOverloadedError
  | ContextTooLongError
  | ServerError
  | MalformedToolCallError
  | CapabilityMismatchError
  | UnknownLlmError
  | RateLimitError
  | QuotaExhaustedError
  | NetworkError
  | RequestTimeoutError

/** The closed union, as a schema. */
export const LlmError = Schema.Union([
  ModelNotFoundError,
  AuthenticationError,
  ContentFilteredError,
  InvalidRequestError,
  ModelOverloadedError,
  ContextTooLongError,
  ServerError,
  MalformedToolCallError,
  CapabilityMismatchError,
  UnknownLlmError,
  RateLimitError,
  QuotaExhaustedError,
  NetworkError,
  RequestTimeoutError
])

export const isLlmError: (value: unknown) => value is LlmError = Schema.is(LlmError)
