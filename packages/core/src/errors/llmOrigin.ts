/** Where a failure of a model comes from, and how its message tells that. */
import type * as Duration from "effect/Duration"
import * as ErrorCause from "../data/ErrorCause.ts"
import type { Usage } from "../data/Usage.ts"

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

export const whereOf = ({ model, provider, requestId, status }: ServiceOrigin): ReadonlyArray<string | undefined> => [
  provider,
  model === undefined ? undefined : `model ${model}`,
  status === undefined ? undefined : `status ${status}`,
  requestId === undefined ? undefined : `request ${requestId}`
]

/** The words of the provider, of the caller, or of what lies beneath: the first that there are. */
export const wordsOf = ({ cause, detail }: Origin, words?: string): string | undefined =>
  words ?? detail ?? (cause === undefined ? undefined : ErrorCause.summarise(cause).message)
