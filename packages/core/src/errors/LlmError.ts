/** The errors of one model call, as a closed union of flat tags. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as CauseCodec from "../data/CauseCodec.ts"
import { FinishReason } from "../data/FinishReason.ts"
import { quietly } from "../data/Foreign.ts"
import { Capability, type Made, ofResponse, spoken, worded } from "./llmOrigin.ts"
import { advised } from "./advised.ts"
import type { Defaulted } from "./sentence.ts"

export type { Capability } from "./llmOrigin.ts"

const originFields = {
  ...ofResponse,
  /** The text so far, if the reply broke off. Listeners of a streamed reply have seen it. */
  partial: Schema.optionalKey(Schema.String),
  /** The errors of the models that were called before this one, oldest first: see `reasonsOf`. */
  earlier: Schema.optionalKey(Schema.Array(CauseCodec.nested(ofThisUnion))),
  /** The original failure. On a wire, an error of this union keeps its class. */
  cause: Schema.optionalKey(CauseCodec.nested(ofThisUnion))
}

// the type is written down, for the union is made of classes that have this field
function ofThisUnion(): Schema.Codec<unknown, unknown> {
  return LlmError
}

const ofService = { message: Schema.String, ...originFields, model: Schema.optionalKey(Schema.String) }

const ofModel = { message: Schema.String, ...originFields, model: Schema.String }

/** Fields with numbers that a provider may not report. */
type Unmeasured<Fields, Key extends string> = Omit<Fields, Key> & { readonly [K in Key]?: number | undefined }

/** The model does not exist, or this key may not use it. */
export class ModelNotFoundError extends advised<ModelNotFoundError>()("ModelNotFoundError", ofModel) {
  static override make(fields: Made<typeof ofModel>): ModelNotFoundError {
    return new ModelNotFoundError(worded("ModelNotFoundError", `Model '${fields.model}' was not found`, fields))
  }
}

/** The key is missing, wrong, or lacks the permission. */
export class AuthenticationError extends advised<AuthenticationError>()("AuthenticationError", ofModel) {
  static override make(fields: Made<typeof ofModel>): AuthenticationError {
    return new AuthenticationError(
      worded("AuthenticationError", `Authentication failed for model '${fields.model}'`, fields)
    )
  }
}

const ofFilter = {
  ...ofModel,
  kind: Schema.Literals(["refusal", "filter"]),
  /** What the filter found, category by category, if the provider tells it: Azure does. */
  filters: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        of: Schema.Literals(["prompt", "reply"]),
        /** In the provider's words: `hate`, `self_harm`, `jailbreak`, `custom_blocklists` … */
        category: Schema.String,
        /** Whether this category held the content back. */
        isFiltered: Schema.Boolean,
        /** Of categories that are either there or not. */
        isDetected: Schema.optionalKey(Schema.Boolean),
        /** Of categories with degrees: `safe`, `low`, `medium`, `high`. */
        severity: Schema.optionalKey(Schema.String),
        /** Of a blocklist: its name. */
        id: Schema.optionalKey(Schema.String)
      })
    )
  )
}

/**
 * The provider's content policy or the model refused. `filter` means that the policy held the prompt or the answer back, `refusal` that the
 * model itself declined.
 */
export class ContentFilteredError extends advised<ContentFilteredError>()("ContentFilteredError", ofFilter) {
  /** `kind` is `filter` unless it is given. */
  static override make(fields: Defaulted<Made<typeof ofFilter>, "kind">): ContentFilteredError {
    const { kind = "filter", model } = fields
    const what = kind === "filter" ? `Model '${model}' filtered the content` : `Model '${model}' refused to answer`
    return new ContentFilteredError({ ...worded("ContentFilteredError", what, fields), kind })
  }
}

const ofEmptyReply = {
  ...ofModel,
  /** The model's own finish reason. */
  finishReason: FinishReason
}

/** The reply has neither text nor a call; it may have reasoning. A run calls the model once more before it fails. */
export class EmptyReplyError extends advised<EmptyReplyError>()("EmptyReplyError", ofEmptyReply) {
  static override make(fields: Made<typeof ofEmptyReply>): EmptyReplyError {
    const what = `Model '${fields.model}' gave an empty reply (finish reason ${fields.finishReason})`
    return new EmptyReplyError(worded("EmptyReplyError", what, fields))
  }
}

/** The provider refused the request as malformed. */
export class InvalidRequestError extends advised<InvalidRequestError>()("InvalidRequestError", ofModel) {
  static override make(fields: Made<typeof ofModel>): InvalidRequestError {
    return new InvalidRequestError(worded("InvalidRequestError", `Model '${fields.model}' refused the request`, fields))
  }
}

/** The model has no capacity left at the moment. */
export class ModelOverloadedError extends advised<ModelOverloadedError>()("ModelOverloadedError", ofModel) {
  static override make(fields: Made<typeof ofModel>): ModelOverloadedError {
    return new ModelOverloadedError(worded("ModelOverloadedError", `Model '${fields.model}' is overloaded`, fields))
  }
}

const ofLength = {
  ...ofModel,
  /** In tokens, if the provider names it. */
  limit: Schema.optionalKey(Schema.Finite),
  actual: Schema.optionalKey(Schema.Finite)
}

/** The conversation does not fit the model's context window. */
export class ContextTooLongError extends advised<ContextTooLongError>()("ContextTooLongError", ofLength) {
  /** A number that is not finite is left out. */
  static override make({
    actual,
    limit,
    ...fields
  }: Unmeasured<Made<typeof ofLength>, "limit" | "actual">): ContextTooLongError {
    const isSent = actual !== undefined && Number.isFinite(actual)
    // Mutant `true` for `limit !== undefined` survives: what is undefined is not finite
    const isLimited = limit !== undefined && Number.isFinite(limit)
    const sent = isSent ? `, ${actual} tokens were sent` : ""
    const admitted = isLimited ? `, at most ${limit} are admitted` : ""
    const what = `The conversation is too long for model '${fields.model}'${sent}${admitted}`
    return new ContextTooLongError({
      ...worded("ContextTooLongError", what, fields),
      ...(isLimited ? { limit } : {}),
      ...(isSent ? { actual } : {})
    })
  }
}

/** The provider failed on its side. */
export class ServerError extends advised<ServerError>()("ServerError", ofModel) {
  static override make(fields: Made<typeof ofModel>): ServerError {
    return new ServerError(worded("ServerError", `The server of model '${fields.model}' failed`, fields))
  }
}

const ofMalformedCall = {
  ...ofModel,
  /** Empty when the provider did not name it. */
  tool: Schema.String,
  /** The arguments as the model wrote them, if the provider shows them. */
  rawArgs: Schema.optionalKey(Schema.String)
}

/** The provider rejected the tool call that its model wrote. */
export class MalformedToolCallError extends advised<MalformedToolCallError>()(
  "MalformedToolCallError",
  ofMalformedCall
) {
  static override make(fields: Made<typeof ofMalformedCall>): MalformedToolCallError {
    const of = fields.tool === "" ? "" : ` of tool '${fields.tool}'`
    const what = `Model '${fields.model}' wrote a malformed call${of}`
    return new MalformedToolCallError(worded("MalformedToolCallError", what, fields))
  }
}

const ofCapability = { ...ofModel, provider: Schema.String, capability: Capability }

/** The model cannot do what the request asks for. */
export class CapabilityMismatchError extends advised<CapabilityMismatchError>()(
  "CapabilityMismatchError",
  ofCapability
) {
  static override make(fields: Made<typeof ofCapability>): CapabilityMismatchError {
    const { capability, model, provider } = fields
    const what = `Model '${model}' of ${provider} does not support ${spoken[capability] ?? capability}`
    // the clause has named the provider
    return new CapabilityMismatchError({
      ...worded("CapabilityMismatchError", what, { ...fields, provider: "" }),
      provider
    })
  }
}

/** A failure without a tag of its own; `cause` has it. */
export class UnknownLlmError extends advised<UnknownLlmError>()("UnknownLlmError", ofModel) {
  static override make(fields: Made<typeof ofModel>): UnknownLlmError {
    return new UnknownLlmError(worded("UnknownLlmError", `Model '${fields.model}' failed in an unknown way`, fields))
  }
}

const ofRate = { ...ofService, service: Schema.String, remainingQuota: Schema.optionalKey(Schema.Finite) }

/** Too many requests: a wait helps. */
export class RateLimitError extends advised<RateLimitError>()("RateLimitError", ofRate) {
  static override make({
    remainingQuota,
    ...fields
  }: Unmeasured<Made<typeof ofRate>, "remainingQuota">): RateLimitError {
    const { retryAfter, service } = fields
    const wait = retryAfter === undefined ? "" : `, it asks to wait ${Duration.format(retryAfter)}`
    const rest = worded("RateLimitError", `'${service}' limits the rate of requests${wait}`, fields)
    return new RateLimitError({ ...rest, ...(remainingQuota === undefined ? {} : { remainingQuota }) })
  }
}

const ofQuota = {
  ...ofModel,
  /** When to look again. It is advice, not a hint of the server to wait. */
  resetAfter: Schema.Duration
}

/** The account has no credit or quota left. A short wait does not help. */
export class QuotaExhaustedError extends advised<QuotaExhaustedError>()("QuotaExhaustedError", ofQuota) {
  /** `resetAfter` is 5 minutes unless the provider says more. */
  static override make(fields: Defaulted<Made<typeof ofQuota>, "resetAfter">): QuotaExhaustedError {
    const { resetAfter = Duration.minutes(5) } = fields
    const rest = worded("QuotaExhaustedError", `The quota for model '${fields.model}' is used up`, fields)
    return new QuotaExhaustedError({ ...rest, resetAfter })
  }
}

const ofPeer = { ...ofService, host: Schema.String, port: Schema.optionalKey(Schema.Finite) }

/** The connection could not be made, or was lost. */
export class NetworkError extends advised<NetworkError>()("NetworkError", ofPeer) {
  static override make(fields: Made<typeof ofPeer>): NetworkError {
    const peer = fields.port === undefined ? fields.host : `${fields.host}:${fields.port}`
    return new NetworkError(worded("NetworkError", `The connection to ${peer} failed`, fields))
  }
}

const ofTime = { ...ofService, operation: Schema.String, timeout: Schema.Duration }

/** The answer took longer than the request's total time limit. */
export class RequestTimeoutError extends advised<RequestTimeoutError>()("RequestTimeoutError", ofTime) {
  static override make(fields: Made<typeof ofTime>): RequestTimeoutError {
    const what = `'${fields.operation}' did not answer within ${Duration.format(fields.timeout)}`
    return new RequestTimeoutError(worded("RequestTimeoutError", what, fields))
  }
}

const ofSize = {
  ...ofModel,
  /** The name of the option whose limit was reached, such as `maxReplyBytes`. */
  option: Schema.String,
  /** The limit in bytes, if it is known. */
  limit: Schema.optionalKey(Schema.Finite)
}

/** The reply exceeds a limit of this program. The server did nothing wrong: the same request fails again. */
export class ReplyTooLargeError extends advised<ReplyTooLargeError>()("ReplyTooLargeError", ofSize) {
  static override make(fields: Made<typeof ofSize>): ReplyTooLargeError {
    const size = fields.limit === undefined ? "" : `, ${fields.limit} bytes`
    const what = `The reply of model '${fields.model}' is larger than ${fields.option} admits${size}`
    return new ReplyTooLargeError(worded("ReplyTooLargeError", what, fields))
  }
}

/** The errors of a model call. */
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
  | ReplyTooLargeError

/** The schema of all model errors. It decodes each error to its own class. */
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
  EmptyReplyError,
  ReplyTooLargeError
])

/** Whether a value is an error of a model call. */
export const isLlmError = (value: unknown): value is LlmError => {
  const is = (guard ??= Schema.is(LlmError))
  return quietly(() => is(value), false)
}

// made at first use: that takes longer than all the classes
let guard: ((value: unknown) => value is LlmError) | undefined

/** The errors of all models of a fallback, in order. The given error is the last. */
export const reasonsOf = (error: LlmError): ReadonlyArray<LlmError> => [
  // Mutant `["Stryker was here"]` survives: a text is no error
  ...(error.earlier ?? []).filter(isLlmError).flatMap(reasonsOf),
  error
]
