/** Everything that can go wrong with one call of a model, as a closed union of flat tags. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import { FinishReason } from "../data/FinishReason.ts"
import * as Redaction from "../data/Redaction.ts"
import { quietly } from "../data/Foreign.ts"
import { Capability, ofResponse, type Origin, type ServiceOrigin, spoken, told } from "./llmOrigin.ts"
import { advised } from "./RecoveryAdvice.ts"
import * as RetryAfter from "../data/RetryAfter.ts"

export { Capability, type Origin, type ServiceOrigin } from "./llmOrigin.ts"

const originFields = {
  ...ofResponse,
  /** The text of the reply that broke off, as far as it had come; absent where there was none. Of a streamed reply it was shown. */
  partial: Schema.optionalKey(Schema.String),
  /** Why other models failed that were asked before this one, oldest first: see `reasonsOf`. */
  earlier: Schema.optionalKey(Schema.Array(ErrorCause.nested(ofThisUnion))),
  /** The original; on a wire, one of this union keeps its class. */
  cause: Schema.optionalKey(ErrorCause.nested(ofThisUnion))
}

// the type is written down, for the union is made of classes that have this field
function ofThisUnion(): Schema.Codec<unknown, unknown> {
  return LlmError
}

const ofService = { message: Schema.String, ...originFields, model: Schema.optionalKey(Schema.String) }

const ofModel = { message: Schema.String, ...originFields, model: Schema.String }

/** The model does not exist, or this key may not use it. */
export class ModelNotFoundError extends advised<ModelNotFoundError>()("ModelNotFoundError", ofModel) {
  static modelNotFound(model: string, from: Origin = {}): ModelNotFoundError {
    return new ModelNotFoundError({ ...told("ModelNotFoundError", `Model '${model}' was not found`, from), model })
  }
}

/** The key is missing, wrong, or lacks the permission. */
export class AuthenticationError extends advised<AuthenticationError>()("AuthenticationError", ofModel) {
  static authenticationFailed(model: string, message: string, from: Origin = {}): AuthenticationError {
    const what = `Authentication failed for model '${model}'`
    return new AuthenticationError({ ...told("AuthenticationError", what, from, message), model })
  }
}

/** The provider's content policy held the prompt or the answer back (`filter`), or the model itself declined (`refusal`). */
export class ContentFilteredError extends advised<ContentFilteredError>()("ContentFilteredError", {
  ...ofModel,
  kind: Schema.Literals(["refusal", "filter"])
}) {
  static contentFiltered(
    model: string,
    message: string,
    from: Origin = {},
    kind: "refusal" | "filter" = "filter"
  ): ContentFilteredError {
    const what = kind === "filter" ? `Model '${model}' filtered the content` : `Model '${model}' refused to answer`
    return new ContentFilteredError({ ...told("ContentFilteredError", what, from, message), model, kind })
  }
}

/** The reply has neither text nor a call: nothing, or only thoughts. A run has asked once more before it fails. */
export class EmptyReplyError extends advised<EmptyReplyError>()("EmptyReplyError", {
  ...ofModel,
  /** Why the model stopped, as it says. */
  finishReason: FinishReason
}) {
  static emptyReply(model: string, finishReason: FinishReason, from: Origin = {}): EmptyReplyError {
    const what = `Model '${model}' gave an empty reply (finish reason ${finishReason})`
    return new EmptyReplyError({ ...told("EmptyReplyError", what, from), model, finishReason })
  }
}

/** The provider refused the request as malformed. */
export class InvalidRequestError extends advised<InvalidRequestError>()("InvalidRequestError", ofModel) {
  static invalidRequest(model: string, message: string, from: Origin = {}): InvalidRequestError {
    const what = `Model '${model}' refused the request`
    return new InvalidRequestError({ ...told("InvalidRequestError", what, from, message), model })
  }
}

/** The model has no capacity left just now. */
export class ModelOverloadedError extends advised<ModelOverloadedError>()("ModelOverloadedError", ofModel) {
  static modelOverloaded(model: string, from: Origin = {}): ModelOverloadedError {
    return new ModelOverloadedError({ ...told("ModelOverloadedError", `Model '${model}' is overloaded`, from), model })
  }
}

/** The conversation does not fit the model's context window. */
export class ContextTooLongError extends advised<ContextTooLongError>()("ContextTooLongError", {
  ...ofModel,
  /** In tokens, where the provider names it. */
  limit: Schema.optionalKey(Schema.Finite),
  actual: Schema.optionalKey(Schema.Finite)
}) {
  static contextTooLong(model: string, limit?: number, actual?: number, from: Origin = {}): ContextTooLongError {
    const isSent = actual !== undefined && Number.isFinite(actual)
    const isLimited = limit !== undefined && Number.isFinite(limit)
    const sent = isSent ? `, ${actual} tokens were sent` : ""
    const admitted = isLimited ? `, at most ${limit} are admitted` : ""
    const what = `The conversation is too long for model '${model}'${sent}${admitted}`
    return new ContextTooLongError({
      ...told("ContextTooLongError", what, from),
      model,
      ...(isLimited ? { limit } : {}),
      ...(isSent ? { actual } : {})
    })
  }
}

/** The provider failed on its own side. */
export class ServerError extends advised<ServerError>()("ServerError", ofModel) {
  static serverError(model: string, cause?: unknown, from: Origin = {}): ServerError {
    const given = cause === undefined ? from : { ...from, cause }
    return new ServerError({ ...told("ServerError", `The server of model '${model}' failed`, given), model })
  }
}

/** The provider itself rejected the tool call that its model wrote. */
export class MalformedToolCallError extends advised<MalformedToolCallError>()("MalformedToolCallError", {
  ...ofModel,
  /** Empty when the provider did not name it. */
  tool: Schema.String,
  /** The arguments as the model wrote them, where the provider shows them. */
  rawArgs: Schema.optionalKey(Schema.String)
}) {
  static malformedToolCall(
    model: string,
    tool: string,
    message: string,
    cause?: unknown,
    from: Origin & { readonly rawArgs?: string } = {}
  ): MalformedToolCallError {
    const of = tool === "" ? "" : ` of tool '${tool}'`
    const what = `Model '${model}' wrote a malformed call${of}`
    const beneath = cause === undefined ? {} : { cause }
    return new MalformedToolCallError({
      ...told("MalformedToolCallError", what, from, message),
      model,
      tool,
      ...beneath
    })
  }
}

/** The model cannot do what the request asks for. */
export class CapabilityMismatchError extends advised<CapabilityMismatchError>()("CapabilityMismatchError", {
  ...ofModel,
  provider: Schema.String,
  capability: Capability
}) {
  static streamingNotSupported(model: string, provider: string, from: Origin = {}): CapabilityMismatchError {
    return CapabilityMismatchError.notSupported(model, provider, "streaming", from)
  }
  static visionNotSupported(model: string, provider: string, from: Origin = {}): CapabilityMismatchError {
    return CapabilityMismatchError.notSupported(model, provider, "vision", from)
  }
  static structuredOutputNotSupported(model: string, provider: string, from: Origin = {}): CapabilityMismatchError {
    return CapabilityMismatchError.notSupported(model, provider, "structuredOutput", from)
  }
  static toolCallNotSupported(model: string, provider: string, from: Origin = {}): CapabilityMismatchError {
    return CapabilityMismatchError.notSupported(model, provider, "tools", from)
  }
  static notSupported(
    model: string,
    provider: string,
    capability: Capability,
    from: Origin = {}
  ): CapabilityMismatchError {
    const what = `Model '${model}' of ${provider} does not support ${spoken[capability] ?? capability}`
    // the clause has named the provider
    const rest = told("CapabilityMismatchError", what, { ...from, provider: "" })
    return new CapabilityMismatchError({ ...rest, model, provider, capability })
  }
}

/** A failure that fits no other tag; the original is its cause. */
export class UnknownLlmError extends advised<UnknownLlmError>()("UnknownLlmError", ofModel) {
  static unknown(model: string, cause: unknown, from: Origin = {}): UnknownLlmError {
    const given = { ...from, cause }
    const what = `Model '${model}' failed in an unknown way`
    return new UnknownLlmError({ ...told("UnknownLlmError", what, given), model })
  }
  /** An answer that claims success and makes no sense. */
  static unreadable(model: string, why: string, from: Origin = {}): UnknownLlmError {
    const what = `The reply of model '${model}' could not be read`
    return new UnknownLlmError({ ...told("UnknownLlmError", what, from, why), model })
  }
}

/** Too many requests: waiting cures it. */
export class RateLimitError extends advised<RateLimitError>()("RateLimitError", {
  ...ofService,
  service: Schema.String,
  remainingQuota: Schema.optionalKey(Schema.Finite)
}) {
  /**
   * From the answer 429 of a service and its `Retry-After`: seconds, fractions included, or an HTTP date relative to
   * `now`. A date in the past is a wait of zero; a header that cannot be read says nothing.
   */
  static fromHttp429(
    service: string,
    retryAfter: string | null | undefined,
    { now }: { readonly now: RetryAfter.Instant }
  ): RateLimitError {
    const wait = RetryAfter.parse(retryAfter, now)
    return RateLimitError.limited(service, { status: 429, ...(wait === undefined ? {} : { retryAfter: wait }) })
  }
  static apiRateLimit(endpoint: string, retryAfter: Duration.Input): RateLimitError {
    return RateLimitError.limited(Redaction.foreign(endpoint.replace(/[?#].*$/s, "")), {
      retryAfter: Duration.fromInputUnsafe(retryAfter)
    })
  }
  static limited(service: string, from: ServiceOrigin = {}, remainingQuota?: number): RateLimitError {
    const { retryAfter } = from
    const asked = retryAfter === undefined ? "" : `, it asks to wait ${Duration.format(retryAfter)}`
    const what = `'${service}' limits the rate of requests${asked}`
    return new RateLimitError({
      ...told("RateLimitError", what, from),
      service,
      ...(remainingQuota === undefined ? {} : { remainingQuota })
    })
  }
}

/** The account has no credit or quota left: waiting a little does not cure it. */
export class QuotaExhaustedError extends advised<QuotaExhaustedError>()("QuotaExhaustedError", {
  ...ofModel,
  /** When it may be worth looking again; advice, not a hint to wait. */
  resetAfter: Schema.Duration
}) {
  /** `resetAfter` is 5 minutes unless the provider says more. */
  static llmQuotaExceeded(
    model: string,
    { resetAfter, ...from }: Omit<Origin, "retryAfter"> & { readonly resetAfter?: Duration.Duration } = {}
  ): QuotaExhaustedError {
    const rest = told("QuotaExhaustedError", `The quota for model '${model}' is used up`, from)
    return new QuotaExhaustedError({ ...rest, model, resetAfter: resetAfter ?? Duration.minutes(5) })
  }
}

/** The connection could not be made, or was lost. */
export class NetworkError extends advised<NetworkError>()("NetworkError", {
  ...ofService,
  host: Schema.String,
  port: Schema.optionalKey(Schema.Finite)
}) {
  static connectionRefused(host: string, port: number, from: ServiceOrigin = {}): NetworkError {
    return NetworkError.connectionFailed({ host, port }, `Connection to ${host}:${port} was refused`, from)
  }
  static dnsResolutionFailed(host: string, cause: unknown, from: ServiceOrigin = {}): NetworkError {
    return NetworkError.connectionFailed({ host }, `The name '${host}' could not be resolved`, { ...from, cause })
  }
  static connectionTimeout(
    host: string,
    port: number,
    timeout: Duration.Input,
    from: ServiceOrigin = {}
  ): NetworkError {
    const what = `Connecting to ${host}:${port} took longer than ${Duration.format(Duration.fromInputUnsafe(timeout))}`
    return NetworkError.connectionFailed({ host, port }, what, from)
  }
  static connectionFailed(
    peer: { readonly host: string; readonly port?: number },
    what: string,
    from: ServiceOrigin = {}
  ): NetworkError {
    return new NetworkError({ ...told("NetworkError", what, from), ...peer })
  }
}

/** The answer took longer than the request's total time limit. */
export class RequestTimeoutError extends advised<RequestTimeoutError>()("RequestTimeoutError", {
  ...ofService,
  operation: Schema.String,
  timeout: Schema.Duration
}) {
  static llmTimeout(timeout: Duration.Input, from: ServiceOrigin = {}): RequestTimeoutError {
    return RequestTimeoutError.timedOut("the model call", timeout, from)
  }
  /** The query string, which may hold a key, is left out of the message. */
  static httpTimeout(url: string, timeout: Duration.Input, from: ServiceOrigin = {}): RequestTimeoutError {
    return RequestTimeoutError.timedOut(Redaction.foreign(url.replace(/[?#].*$/s, "")), timeout, from)
  }
  static timedOut(operation: string, limit: Duration.Input, from: ServiceOrigin = {}): RequestTimeoutError {
    const timeout = Duration.fromInputUnsafe(limit)
    const what = `'${operation}' did not answer within ${Duration.format(timeout)}`
    return new RequestTimeoutError({ ...told("RequestTimeoutError", what, from), operation, timeout })
  }
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
  | EmptyReplyError

/** The closed union, as a schema. */
export const LlmError: Schema.Codec<LlmError, unknown> = Schema.Union([
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
  RequestTimeoutError,
  EmptyReplyError
])

/** Whether a value is an error of a model call. */
export const isLlmError = (value: unknown): value is LlmError => {
  const is = (guard ??= Schema.is(LlmError))
  return quietly(() => is(value), false)
}

// made at first use: that takes longer than all the classes
let guard: ((value: unknown) => value is LlmError) | undefined

/** Every model's reason, in the order in which they were asked; the error itself is the last. */
export const reasonsOf = (error: LlmError): ReadonlyArray<LlmError> => [
  ...(error.earlier ?? []).filter(isLlmError).flatMap(reasonsOf),
  error
]
