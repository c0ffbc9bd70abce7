/** Everything that can go wrong with one call of a model, as a closed union of flat tags. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { quietly } from "../data/Foreign.ts"
import { type Origin, type ServiceOrigin, whereOf, wordsOf } from "./llmOrigin.ts"
import { Capability, spoken } from "./llmCapability.ts"
import { sentence } from "./sentence.ts"
import { advised, type AdviceOf } from "./RecoveryAdvice.ts"
import * as RetryAfter from "../data/RetryAfter.ts"
import * as Usage from "../data/Usage.ts"

export { Capability } from "./llmCapability.ts"
export type { Origin, ServiceOrigin } from "./llmOrigin.ts"

const originFields = {
  provider: Schema.optionalKey(Schema.String),
  /** The provider's own id of the request, to quote to its support. */
  requestId: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Finite),
  /** How long the server asked to wait. A floor: never shortened. */
  retryAfter: Schema.optionalKey(Schema.Duration),
  /** What the server said of sending the same request again, where it did: `false` forbids it. */
  shouldRetry: Schema.optionalKey(Schema.Boolean),
  /** The provider's own words, capped and masked. */
  detail: Schema.optionalKey(Schema.String),
  /** What the attempt had used up by then, where the provider said so. */
  usage: Schema.optionalKey(Usage.Usage),
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
export class ModelNotFoundError extends advised(
  "ModelNotFoundError",
  Schema.TaggedError<ModelNotFoundError, AdviceOf<"ModelNotFoundError">>()("ModelNotFoundError", ofModel)
) {
  static modelNotFound(model: string, from: Origin = {}): ModelNotFoundError {
    const happened = { what: `Model '${model}' was not found`, where: whereOf(from), words: wordsOf(from) }
    return new ModelNotFoundError({ ...from, model, message: sentence("ModelNotFoundError", happened) })
  }
}

/** The key is missing, wrong, or lacks the permission. */
export class AuthenticationError extends advised(
  "AuthenticationError",
  Schema.TaggedError<AuthenticationError, AdviceOf<"AuthenticationError">>()("AuthenticationError", ofModel)
) {
  static authenticationFailed(model: string, message: string, from: Origin = {}): AuthenticationError {
    const happened = { what: `Authentication failed for model '${model}'`, where: whereOf(from), words: message }
    return new AuthenticationError({ ...from, model, message: sentence("AuthenticationError", happened) })
  }
}

/** The provider's content policy refused the prompt or the answer. */
export class ContentFilteredError extends advised(
  "ContentFilteredError",
  Schema.TaggedError<ContentFilteredError, AdviceOf<"ContentFilteredError">>()("ContentFilteredError", ofModel)
) {
  static contentFiltered(model: string, message: string, from: Origin = {}): ContentFilteredError {
    const happened = { what: `Model '${model}' filtered the content`, where: whereOf(from), words: message }
    return new ContentFilteredError({ ...from, model, message: sentence("ContentFilteredError", happened) })
  }
}

/** The provider refused the request as malformed. */
export class InvalidRequestError extends advised(
  "InvalidRequestError",
  Schema.TaggedError<InvalidRequestError, AdviceOf<"InvalidRequestError">>()("InvalidRequestError", ofModel)
) {
  static invalidRequest(model: string, message: string, from: Origin = {}): InvalidRequestError {
    const happened = { what: `Model '${model}' refused the request`, where: whereOf(from), words: message }
    return new InvalidRequestError({ ...from, model, message: sentence("InvalidRequestError", happened) })
  }
}

/** The model has no capacity left just now. */
export class ModelOverloadedError extends advised(
  "ModelOverloadedError",
  Schema.TaggedError<ModelOverloadedError, AdviceOf<"ModelOverloadedError">>()("ModelOverloadedError", ofModel)
) {
  static modelOverloaded(model: string, from: Origin = {}): ModelOverloadedError {
    const happened = { what: `Model '${model}' is overloaded`, where: whereOf(from), words: wordsOf(from) }
    return new ModelOverloadedError({ ...from, model, message: sentence("ModelOverloadedError", happened) })
  }
}

/** The conversation does not fit the model's context window. */
export class ContextTooLongError extends advised(
  "ContextTooLongError",
  Schema.TaggedError<ContextTooLongError, AdviceOf<"ContextTooLongError">>()("ContextTooLongError", {
    ...ofModel,
    /** In tokens, where the provider names it. */
    limit: Schema.optionalKey(Schema.Finite),
    actual: Schema.optionalKey(Schema.Finite)
  })
) {
  static contextTooLong(model: string, limit?: number, actual?: number, from: Origin = {}): ContextTooLongError {
    const isSent = actual !== undefined && Number.isFinite(actual)
    const isLimited = limit !== undefined && Number.isFinite(limit)
    const sent = isSent ? `, ${actual} tokens were sent` : ""
    const admitted = isLimited ? `, at most ${limit} are admitted` : ""
    const what = `The conversation is too long for model '${model}'${sent}${admitted}`
    return new ContextTooLongError({
      ...from,
      model,
      message: sentence("ContextTooLongError", { what, where: whereOf(from), words: wordsOf(from) }),
      ...(isLimited ? { limit } : {}),
      ...(isSent ? { actual } : {})
    })
  }
}

/** The provider failed on its own side. */
export class ServerError extends advised(
  "ServerError",
  Schema.TaggedError<ServerError, AdviceOf<"ServerError">>()("ServerError", ofModel)
) {
  static serverError(model: string, cause?: unknown, from: Origin = {}): ServerError {
    const given = cause === undefined ? from : { ...from, cause }
    const happened = { what: `The server of model '${model}' failed`, where: whereOf(from), words: wordsOf(given) }
    return new ServerError({ ...given, model, message: sentence("ServerError", happened) })
  }
}

/** The provider itself rejected the tool call that its model wrote. */
export class MalformedToolCallError extends advised(
  "MalformedToolCallError",
  Schema.TaggedError<MalformedToolCallError, AdviceOf<"MalformedToolCallError">>()("MalformedToolCallError", {
    ...ofModel,
    /** Empty when the provider did not name it. */
    tool: Schema.String,
    /** The arguments as the model wrote them, where the provider shows them. */
    rawArgs: Schema.optionalKey(Schema.String)
  })
) {
  static malformedToolCall(
    model: string,
    tool: string,
    message: string,
    cause?: unknown,
    from: Origin & { readonly rawArgs?: string } = {}
  ): MalformedToolCallError {
    const of = tool === "" ? "" : ` of tool '${tool}'`
    const happened = { what: `Model '${model}' wrote a malformed call${of}`, where: whereOf(from), words: message }
    return new MalformedToolCallError({
      ...from,
      model,
      tool,
      message: sentence("MalformedToolCallError", happened),
      ...(cause === undefined ? {} : { cause })
    })
  }
}

/** The model cannot do what the request asks for. */
export class CapabilityMismatchError extends advised(
  "CapabilityMismatchError",
  Schema.TaggedError<CapabilityMismatchError, AdviceOf<"CapabilityMismatchError">>()("CapabilityMismatchError", {
    ...ofModel,
    provider: Schema.String,
    capability: Capability
  })
) {
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
    const what = `Model '${model}' of ${provider} does not support ${spoken[capability]}`
    const where = whereOf(from).slice(1)
    const message = sentence("CapabilityMismatchError", { what, where, words: wordsOf(from) })
    return new CapabilityMismatchError({ ...from, model, provider, capability, message })
  }
}

/** A failure that fits no other tag; the original is its cause. */
export class UnknownLlmError extends advised(
  "UnknownLlmError",
  Schema.TaggedError<UnknownLlmError, AdviceOf<"UnknownLlmError">>()("UnknownLlmError", ofModel)
) {
  static unknown(model: string, cause: unknown, from: Origin = {}): UnknownLlmError {
    const given = { ...from, cause }
    const happened = { what: `Model '${model}' failed in an unknown way`, where: whereOf(from), words: wordsOf(given) }
    return new UnknownLlmError({ ...given, model, message: sentence("UnknownLlmError", happened) })
  }
  /** An answer that claims success and makes no sense. */
  static unreadable(model: string, why: string, from: Origin = {}): UnknownLlmError {
    const happened = { what: `The reply of model '${model}' could not be read`, where: whereOf(from), words: why }
    return new UnknownLlmError({ ...from, model, message: sentence("UnknownLlmError", happened) })
  }
}

/** Too many requests: waiting cures it. */
export class RateLimitError extends advised(
  "RateLimitError",
  Schema.TaggedError<RateLimitError, AdviceOf<"RateLimitError">>()("RateLimitError", {
    ...ofService,
    service: Schema.String,
    remainingQuota: Schema.optionalKey(Schema.Finite)
  })
) {
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
      ...from,
      service,
      message: sentence("RateLimitError", { what, where: whereOf(from), words: wordsOf(from) }),
      ...(remainingQuota === undefined ? {} : { remainingQuota })
    })
  }
}

/** The account has no credit or quota left: waiting a little does not cure it. */
export class QuotaExhaustedError extends advised(
  "QuotaExhaustedError",
  Schema.TaggedError<QuotaExhaustedError, AdviceOf<"QuotaExhaustedError">>()("QuotaExhaustedError", {
    ...ofModel,
    /** When it may be worth looking again; advice, not a hint to wait. */
    resetAfter: Schema.Duration
  })
) {
  /** `resetAfter` is 5 minutes unless the provider says more. */
  static llmQuotaExceeded(
    model: string,
    { resetAfter, ...from }: Omit<Origin, "retryAfter"> & { readonly resetAfter?: Duration.Duration } = {}
  ): QuotaExhaustedError {
    const happened = { what: `The quota for model '${model}' is used up`, where: whereOf(from), words: wordsOf(from) }
    return new QuotaExhaustedError({
      ...from,
      model,
      resetAfter: resetAfter ?? Duration.minutes(5),
      message: sentence("QuotaExhaustedError", happened)
    })
  }
}

/** The connection could not be made, or was lost. */
export class NetworkError extends advised(
  "NetworkError",
  Schema.TaggedError<NetworkError, AdviceOf<"NetworkError">>()("NetworkError", {
    ...ofService,
    host: Schema.String,
    port: Schema.optionalKey(Schema.Finite)
  })
) {
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
    const limit = Duration.format(Duration.fromInputUnsafe(timeout))
    return NetworkError.connectionFailed(
      { host, port },
      `Connecting to ${host}:${port} took longer than ${limit}`,
      from
    )
  }
  static connectionFailed(
    peer: { readonly host: string; readonly port?: number },
    what: string,
    from: ServiceOrigin = {}
  ): NetworkError {
    const happened = { what, where: whereOf(from), words: wordsOf(from) }
    return new NetworkError({ ...from, ...peer, message: sentence("NetworkError", happened) })
  }
}

/** The answer took longer than the request's total time limit. */
export class RequestTimeoutError extends advised(
  "RequestTimeoutError",
  Schema.TaggedError<RequestTimeoutError, AdviceOf<"RequestTimeoutError">>()("RequestTimeoutError", {
    ...ofService,
    operation: Schema.String,
    timeout: Schema.Duration
  })
) {
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
    const message = sentence("RequestTimeoutError", { what, where: whereOf(from), words: wordsOf(from) })
    return new RequestTimeoutError({ ...from, operation, timeout, message })
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

const llmErrorUnion = Schema.Union([
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

/** The closed union, as a schema. */
export const LlmError: Schema.Codec<LlmError, unknown> = llmErrorUnion

/** Whether a value is an error of a model call. */
export const isLlmError = (value: unknown): value is LlmError => {
  const is = (guard ??= Schema.is(llmErrorUnion))
  return quietly(() => is(value), false)
}

// made at first use: that takes longer than all the classes
let guard: ((value: unknown) => value is LlmError) | undefined

/** Every model's reason, in the order in which they were asked; the error itself is the last. */
export const reasonsOf = (error: LlmError): ReadonlyArray<LlmError> => [
  ...(error.earlier ?? []).filter(isLlmError).flatMap(reasonsOf),
  error
]
