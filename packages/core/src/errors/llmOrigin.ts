/** The response behind a model failure, the capabilities of models, and the messages about both. */
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Usage from "../data/Usage.ts"
import type { FactsTable } from "./facts.ts"
import { type Made as MadeOf, type Said, sentence } from "./sentence.ts"

export const ofResponse = {
  provider: Schema.optionalKey(Schema.String),
  /** The provider's id of the request, for its support. */
  requestId: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Finite),
  /** How long the server asked to wait. No wait is shorter. */
  retryAfter: Schema.optionalKey(Schema.Duration),
  /** Whether the server allows a resend of the same request; absent if it does not say. */
  shouldRetry: Schema.optionalKey(Schema.Boolean),
  /** The message of the provider, redacted, and cut to 1,000 UTF-16 units. */
  detail: Schema.optionalKey(Schema.String),
  /** The usage of the attempt, if the provider reported it. */
  usage: Schema.optionalKey(Usage.Usage),
  /** Set if a background reply has failed or is gone, so the next attempt starts a new one. Absent if only the request for it failed. */
  isJobOver: Schema.optionalKey(Schema.Literal(true))
}

/** The response that carried the failure. A failure of a service or a connection may have no model. */
interface Origin extends Schema.Struct.Type<typeof ofResponse> {
  readonly cause?: unknown
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
export const worded = <F extends Origin & Quoted>(
  tag: keyof FactsTable,
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

/**
 * A capability that a model may lack. For `other`, only `detail` names it, in the provider's words.
 *
 * @hidden
 */
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

/** The names of capabilities after "does not support"; a capability without an entry is a word itself. */
export const spoken: Readonly<Partial<Record<Capability, string>>> = {
  vision: "images",
  structuredOutput: "structured output",
  tools: "tool calls",
  toolChoice: "this choice of tools",
  other: "what the request asks for"
}
