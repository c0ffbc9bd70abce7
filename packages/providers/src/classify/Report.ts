/** The type of an error report: the content of an error body after the codec has read it. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"

/** The content of an error body, in the same shape for every wire format. */
export interface Report {
  /** The provider's names for the error, the most specific first: its code, its type, its reason. */
  readonly codes: ReadonlyArray<string>
  /** The error message; empty if there is none. */
  readonly text: string
  /** The HTTP status of a failure that the body states, from 400 to 599. It overrides the status of the answer. */
  readonly status?: number
  /** The field of the request that caused the error. */
  readonly param?: string
  /** The name of the tool whose call the provider rejected. */
  readonly tool?: string
  /** The arguments of the rejected call, as the model wrote them. */
  readonly rawArgs?: string
  /** The wait that the body states as data. A wait in the text of the message is read elsewhere, by `Hints`. */
  readonly retryAfter?: Duration.Duration
  /** The request id, if the body repeats it. */
  readonly requestId?: string
  /** The usage of the attempt, if the body has a reply besides the error. */
  readonly usage?: Usage.Usage | undefined
  /** The categories that a content filter found in the text. */
  readonly filters?: LlmError.ContentFilteredError["filters"]
  /** The headers of the server behind a router, as the body quotes them, in lower case. The headers of the answer itself override them. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The tags of the errors that a report can become. An empty reply and a reply that is too large are found by other code, so their tags are
 * excluded.
 */
export type Tag = Exclude<LlmError.LlmError["_tag"], "EmptyReplyError" | "ReplyTooLargeError">

/** The error names of one wire format, in lower case. */
export type Codes = Readonly<Record<string, Tag>>
