/** What the body of an error says, as its codec has read it. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"

/** What an error says of itself, whatever its format. */
export interface Report {
  /** The provider's own names for the error, the most telling one first: code, type, reason. */
  readonly codes: ReadonlyArray<string>
  /** Its words for a person; empty when it has none. */
  readonly text: string
  /** The status that the body names itself; it beats the status of the answer. */
  readonly status?: number
  /** The field of the request that it is about. */
  readonly param?: string
  /** The tool whose call the provider rejected. */
  readonly tool?: string
  /** The arguments of that call, as the model wrote them. */
  readonly rawArgs?: string
  /** The wait that the body asks for as data; what its text asks for is read from the text. */
  readonly retryAfter?: Duration.Duration
  /** The id of the request, where the body repeats it. */
  readonly requestId?: string
  /** What the attempt had used up, where a reply came with the error. */
  readonly usage?: Usage.Usage
  /** Headers of the server behind a router, in lower case; those of the answer itself come before them. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The tags that a report can have: that a reply says nothing is seen where the reply is read. */
export type Tag = Exclude<LlmError.LlmError["_tag"], "EmptyReplyError">

/** The names that one wire format gives to its errors, in lower case. */
export type Codes = Readonly<Record<string, Tag>>
