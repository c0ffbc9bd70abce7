/** Where a failure of a model comes from, what a model may lack, and how messages tell that. */
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import type { Usage } from "../data/Usage.ts"
import type { Tag } from "./RecoveryAdvice.ts"
import { sentence } from "./sentence.ts"

/** What is known of the response that carried the failure; each field is absent when nothing was said. */
export interface Origin {
  readonly provider?: string
  readonly requestId?: string
  readonly status?: number
  readonly retryAfter?: Duration.Duration
  readonly shouldRetry?: boolean
  readonly detail?: string
  readonly usage?: Usage
  readonly cause?: unknown
}

/** The same, for failures that are about a service or a connection: the model may be known or not. */
export interface ServiceOrigin extends Origin {
  readonly model?: string
}

/**
 * What a failure holds of its origin, and its message. There speaks the caller, the provider, or what lies beneath: the first that
 * says something.
 */
export const told = <From extends ServiceOrigin>(tag: Tag, what: string, from: From, said?: string) => {
  const { cause, detail, model, provider, requestId, status } = from
  const where = [
    provider,
    model === undefined ? undefined : `model ${model}`,
    status === undefined ? undefined : `status ${status}`,
    requestId === undefined ? undefined : `request ${requestId}`
  ]
  const words = said ?? detail ?? (cause === undefined ? undefined : ErrorCause.summarise(cause).message)
  return { ...from, message: sentence(tag, { what, where, words }) }
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

/** In words, behind "does not support". */
export const spoken: Readonly<Record<Capability, string>> = {
  streaming: "streaming",
  vision: "images",
  files: "files",
  structuredOutput: "structured output",
  tools: "tool calls",
  toolChoice: "this choice of tools",
  thinking: "thinking",
  chat: "chat",
  other: "what the request asks for"
}
