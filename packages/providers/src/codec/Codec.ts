/** One wire format: encodes requests, and decodes bodies and events. Pure, without I/O. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../transport/Answer.ts"
import type { Decoder } from "../transport/Decoder.ts"

/** One wire format, both ways, without I/O. */
export interface Codec {
  /** Set if the model goes on from a message of its own at the end of a request, see `Model.Service`. Without it, such a request is refused. */
  readonly continuation?: Model.Service["continuation"]
  /** Whether the provider runs tools of its own for these requests, such as a search, see `Model.Service`. */
  readonly providerTools?: boolean
  /** How many tokens a request and its reply may have together, see `Model.Service`; absent if that is not known. */
  readonly contextWindow?: number
  /** What it changes of a request that the model does not take, see `Model.Service`. */
  readonly adapts?: Model.Service["adapts"]
  /** What is logged as a warning before the first request, such as that the provider ends the model. */
  readonly warning?: string
  /** Why this format cannot express a request, which is then not sent; absent if it can express all. */
  readonly refuses?: (request: Model.Request) => LlmError | undefined
  /** Whether this format carries such an image or file in the result of a tool; absent if it carries none. */
  readonly takes?: (part: Exclude<Message.UserContent[number], Message.Text>) => boolean
  /**
   * Set if thoughts go back only behind the tools and instructions that they came with: the provider's own tools, which count beside those
   * of the request. Else only the messages before them count; those count in every format.
   */
  readonly bindsThoughts?: ReadonlyArray<Schema.Json>
  /** The models to which the server may fall back, in the words of the body: a reply of one of them names it. */
  readonly fallbacks?: Schema.Json
  /** What else goes with the thoughts of a message that are left out; absent if nothing does. `bare` is the message without them. */
  readonly withoutThoughts?: (bare: Message.Assistant, whole: Message.Assistant) => Message.Assistant
  /** The JSON text of a request. */
  readonly encode: (request: Model.Request, mode: "whole" | "streamed") => string
  /**
   * Decodes the body of a 2xx answer to a request; total. Calls that wait, and whose kind is not in the `providerCalls` of the request, are
   * a `CapabilityMismatchError`.
   */
  readonly decode: (answer: Answer, request?: Model.Request) => Result.Result<Message.Reply, LlmError>
  /** Reads the events of a 2xx answer to a request; total. */
  readonly decoder: (answer: Answer, request?: Model.Request) => Decoder<Model.Part>
  /**
   * The request that is sent, once, after a failure which says that the provider no longer has what the failed request refers to; `undefined`
   * for any other failure.
   */
  readonly anew?: (error: LlmError, request: Model.Request) => Model.Request | undefined
  /** How replies are asked for that the provider makes in the background; absent if it makes none. */
  readonly jobs?: Jobs
  /** The error of an answer with any other status; total. */
  readonly classify: (answer: Answer) => LlmError
  /**
   * The same error of a request. If the provider refuses what the capabilities allow, it says so.
   *
   * @internal
   */
  readonly contradicts?: (error: LlmError, request: Model.Request) => LlmError
}

/** Replies that a provider makes in the background: a paused reply names the job, in an item of the kind `background_job`. */
export interface Jobs {
  /** Whether a request asks for its reply in the background. */
  readonly begins: (request: Model.Request) => boolean
  /** The job that the last message of a request names. */
  readonly of: (request: Model.Request) => Job | undefined
  /** What has become of a job, from the body of its answer; `undefined` for a body that does not say so. */
  readonly status: (answer: Answer) => "at work" | "cancelled" | "over" | undefined
  /** The usage of a job that was cancelled, if its answer has any. */
  readonly usage: (answer: Answer) => Message.Reply["usage"] | undefined
  /** What the reply to a request has beyond its usual fields: who asks for the job names these fields again. */
  readonly include: (request: Model.Request) => ReadonlyArray<Schema.Json>
  /** The same failure, as that of the job itself: it is not asked for again. */
  readonly over: (error: LlmError) => LlmError
  /** Reads the events of a job; its failures are `over`. */
  readonly decoder: Codec["decoder"]
  /** The error of a job that is not there any more. */
  readonly gone: (answer: Answer) => LlmError
}

/** A reply in the background. */
export interface Job {
  readonly id: string
  /** Whether it was begun as a stream, and can be read as one: the number of its first event. */
  readonly after: number | undefined
}
