/** The content of an error body, as its codec reads it. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"

/** What an error says about itself, in the same shape for every wire format. */
export interface Report {
  /** The provider's own names for the error, the most specific first: code, type, reason. */
  readonly codes: ReadonlyArray<string>
  /** Its message for a person; empty if it has none. */
  readonly text: string
  /** The status in the body. It overrides the status of the answer. */
  readonly status?: number
  /** The request field that the error is about. */
  readonly param?: string
  /** The tool whose call the provider rejected. */
  readonly tool?: string
  /** The arguments of the rejected call, as the model wrote them. */
  readonly rawArgs?: string
  /** The wait that the body states as data. `Hints` reads a wait in the text. */
  readonly retryAfter?: Duration.Duration
  /** The request id, if the body repeats it. */
  readonly requestId?: string
  /** The usage of the attempt, if a reply came with the error. */
  readonly usage?: Usage.Usage
  /** What a content filter found. */
  readonly filters?: LlmError.ContentFilteredError["filters"]
  /** Headers of the server behind a router, in lower case. The headers of the answer itself override them. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The tags that a report can have. The code that reads a reply detects an empty reply, so that tag is absent. */
export type Tag = Exclude<LlmError.LlmError["_tag"], "EmptyReplyError" | "ReplyTooLargeError">

/** The error names of one wire format, in lower case. */
export type Codes = Readonly<Record<string, Tag>>
