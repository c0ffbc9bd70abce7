/** Where a failure of a model comes from, what a model may lack, and how messages tell that. */
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Usage from "../data/Usage.ts"
import type { Tag } from "./RecoveryAdvice.ts"
import { type Made as MadeOf, type Said, sentence } from "./sentence.ts"

export const ofResponse = {
  provider: Schema.optionalKey(Schema.String),
  /** The provider's own id of the request, to quote to its support. */
  requestId: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Finite),
  /** How long the server asked to wait. A floor: never shortened. */
  retryAfter: Schema.optionalKey(Schema.Duration),
  /** Whether the server allows a resend of the same request, if it says so: `false` forbids it. */
  shouldRetry: Schema.optionalKey(Schema.Boolean),
  /** The provider's own words, capped and masked. */
  detail: Schema.optionalKey(Schema.String),
  /** The usage of the attempt so far, if the provider reported it. */
  usage: Schema.optionalKey(Usage.Usage)
}

/** The response that carried the failure; a field is absent if the response has none. */
export interface Origin extends Schema.Struct.Type<typeof ofResponse> {
  readonly cause?: unknown
}

/** The same, for failures that are about a service or a connection: the model may be known or not. */
export interface ServiceOrigin extends Origin {
  readonly model?: string
}

interface Quoted extends Said {
  /** The provider's text for the message, instead of `detail`. It is no field of the error. */
  readonly words?: string
}

/** The argument of `make` of a model failure. */
export type Made<F extends Schema.Struct.Fields> = MadeOf<F> & Quoted

/**
 * The fields of an error with its message. The message says what happened, where, and in whose words: the provider's or, where it said
 * nothing, those of the cause.
 */
export const worded = <F extends ServiceOrigin & Quoted>(
  tag: Tag,
  what: string,
  { detail, what: given, words: said, ...fields }: F
) => {
  const { cause, message, model, provider, requestId, status } = fields
  const quoted = detail === undefined || detail === "" ? {} : { detail: Redaction.foreign(detail) }
  if (message !== undefined) return { ...fields, ...quoted, message }
  const happened = given ?? what
  const where = [
    provider,
    // most clauses name the model
    model === undefined || happened.includes(`'${model}'`) ? undefined : `model ${model}`,
    status === undefined ? undefined : `status ${status}`,
    requestId === undefined ? undefined : `request ${requestId}`
  ]
  const words = said ?? detail ?? (cause === undefined ? undefined : ErrorCause.summarise(cause).message)
  return { ...fields, ...quoted, message: sentence(tag, { what: happened, where, words }) }
}

/** What a model may lack; `other` is named by nothing but the provider's words, in `detail`. */
export const Capability = Schema.Literals([
  "streaming",
  "vision",
  "files",
  "structuredOutput",
  "tools",
  "toolChoice",
  "thinking",
  "chat",
  "other"
])
export type Capability = typeof Capability.Type

/** In words, behind "does not support"; the others are words. */
export const spoken: Readonly<Partial<Record<Capability, string>>> = {
  vision: "images",
  structuredOutput: "structured output",
  tools: "tool calls",
  toolChoice: "this choice of tools",
  other: "what the request asks for"
}
