/**
 * All errors of this library, as one closed union. They are those of model calls, tool calls, runs, and data from outside. `toProblem`
 * makes such an error the answer of a backend to its own client: `application/problem+json` (RFC 9457).
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Redaction from "../data/Redaction.ts"
import { DoorError } from "./DoorError.ts"
import { LlmError } from "./LlmError.ts"
import { describe } from "./RecoveryAdvice.ts"
import { RunError } from "./RunError.ts"
import { AroundToolError, ToolError } from "./ToolError.ts"

/** The errors of this library. */
export type KintsugiError = LlmError | ToolError | AroundToolError | RunError | DoorError

const union = Schema.Union([LlmError, ToolError, AroundToolError, RunError, DoorError])

/**
 * Every error of this library, as one closed union. It is the type, and a schema that decodes each error to its own class. `LlmError`,
 * `ToolError`, `RunError` and `DoorError` are the unions of its parts.
 *
 * @example
 * ```ts
 * import { KintsugiError, LlmError } from "@kintsugi/core"
 * import { Schema } from "effect"
 *
 * const codec = Schema.toCodecJson(KintsugiError.KintsugiError)
 * const stored = Schema.encodeUnknownSync(codec)(LlmError.ServerError.make({ model: "gpt-5.6-sol", status: 503 }))
 * Schema.decodeUnknownSync(codec)(stored)._tag // => "ServerError"
 * ```
 */
export const KintsugiError: Schema.Codec<KintsugiError, unknown> = union

/** Whether a value is an error of this library. */
export const isKintsugiError: (value: unknown) => value is KintsugiError = Schema.is(KintsugiError)

/**
 * A problem document for HTTP clients (RFC 9457). It has the code of the error, its redacted message, whether a client may send the request
 * again, and the names that a client can use. It has no cause, no arguments and no transcript.
 */
export interface Problem extends Schema.Schema.Type<typeof Problem> {}

export const Problem = Schema.Struct({
  /** A name for the kind of problem; not an address. */
  type: Schema.String,
  title: Schema.String,
  status: Schema.Finite,
  detail: Schema.String,
  code: Schema.String,
  retryable: Schema.Boolean,
  /** In seconds; absent unless retryable. For the `Retry-After` header. */
  retryAfter: Schema.optionalKey(Schema.Finite),
  tool: Schema.optionalKey(Schema.String),
  callId: Schema.optionalKey(Schema.String),
  agent: Schema.optionalKey(Schema.String),
  requestId: Schema.optionalKey(Schema.String)
})

/** The media type of a problem on the wire. */
export const problemMediaType = "application/problem+json"

/** The problem document of an error. Its texts are redacted; causes and transcripts are left out. */
export const toProblem = (error: KintsugiError): Problem => {
  const { code, title } = describe(error._tag)
  return {
    type: `urn:kintsugi:error:${code.replace("KINTSUGI-", "").toLowerCase()}`,
    title,
    status: error.httpStatus,
    detail: Redaction.foreign(error.message),
    code: Redaction.foreign(error.code),
    retryable: error.isRetryable,
    ...retryAfterOf(error),
    ...named(error, "tool"),
    ...named(error, "callId"),
    ...named(error, "agent"),
    ...named(error, "requestId")
  }
}

/** As long as the server asks, and never shorter than advised. */
const retryAfterOf = (error: KintsugiError): { readonly retryAfter?: number } => {
  if (!error.isRetryable) return {}
  const hint = ("retryAfter" in error ? error.retryAfter : undefined) ?? Duration.zero
  const seconds = Math.ceil(Duration.toSeconds(Duration.max(error.suggestedDelay, hint)))
  return Number.isFinite(seconds) ? { retryAfter: seconds } : {}
}

/** A name among the fields of the error, if it is present and not empty. */
const named = <Key extends string>(error: object, key: Key): { readonly [K in Key]?: string } => {
  const value: unknown = Reflect.get(error, key)
  // the only key of the object is the key that was asked for
  return typeof value === "string" && value !== ""
    ? ({ [key]: Redaction.foreign(value) } as { [K in Key]: string })
    : {}
}
