/** The interface of a wire format: it encodes requests, and decodes bodies and events. Pure, without I/O. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../transport/Answer.ts"
import type { Decoder } from "../transport/Decoder.ts"

/** A wire format for one model: it encodes requests and decodes replies, without I/O. */
export interface Codec {
  /** How the model continues an assistant message at the end of a request, see `Model.Service`. Absent: such a request is refused. */
  readonly continuation?: Model.Service["continuation"]
  /** Whether the provider runs tools of its own for these requests, such as a search, see `Model.Service`. */
  readonly providerTools?: boolean
  /** How many tokens a request and its reply may have together, see `Model.Service`; absent if that is not known. */
  readonly contextWindow?: number
  /** Says what the codec changes of a request that the model does not take, see `Model.Service`. */
  readonly adapts?: Model.Service["adapts"]
  /** A warning that is logged before the first request, such as that the provider ends the model soon. */
  readonly warning?: string
  /** Says why this format cannot express a request, which is then not sent. Absent: the format can express all requests. */
  readonly refuses?: (request: Model.Request) => LlmError | undefined
  /** Whether this format carries this image or file in the result of a tool. Absent: it carries none. */
  readonly takes?: (part: Exclude<Message.UserContent[number], Message.Text>) => boolean
  /**
   * Set if thoughts are sent back only behind the same tools and instructions as before. The value is the list of the provider's own tools,
   * which count beside the tools of the request. Absent: only the messages before the thoughts count; these count in every format.
   */
  readonly bindsThoughts?: ReadonlyArray<Schema.Json>
  /** The models to which the server may fall back, as the body lists them. A reply names the model that wrote it. */
  readonly fallbacks?: Schema.Json
  /**
   * Removes from a message what must go together with its thoughts. `bare` is the message without its thoughts, `whole` with them. Absent:
   * nothing else must go.
   */
  readonly withoutThoughts?: (bare: Message.Assistant, whole: Message.Assistant) => Message.Assistant
  /** The JSON text of a request. */
  readonly encode: (request: Model.Request, mode: "whole" | "streamed") => string
  /**
   * Decodes the body of a 2xx answer to a request; total. The body is a `CapabilityMismatchError` if a call in it waits for the client, and
   * its kind is not in the `providerCalls` of the request.
   */
  readonly decode: (answer: Answer, request?: Model.Request) => Result.Result<Message.Reply, LlmError>
  /** Makes the decoder of the events of a 2xx answer to a request; total. */
  readonly decoder: (answer: Answer, request?: Model.Request) => Decoder<Model.Part>
  /**
   * The request to send instead, once, if the error says that the provider no longer has the data to which the failed request refers;
   * `undefined` for any other error.
   */
  readonly anew?: (error: LlmError, request: Model.Request) => Model.Request | undefined
  /** Reads replies that the provider makes in the background. Absent: the provider makes none. */
  readonly jobs?: Jobs
  /** Makes the error of an answer whose status is not 2xx; total. */
  readonly classify: (answer: Answer) => LlmError
  /**
   * Makes an error say that the provider refuses an option which the capabilities allow, if that is so. Any other error stays the same.
   *
   * @internal
   */
  readonly contradicts?: (error: LlmError, request: Model.Request) => LlmError
}

/**
 * Reads replies that a provider makes in the background. Such a reply is paused: it names its job in an item of the kind `background_job`,
 * and later requests ask for the job.
 */
export interface Jobs {
  /** Whether a request asks for a reply in the background. */
  readonly begins: (request: Model.Request) => boolean
  /** The job that the last message of a request names; `undefined` if it names none. */
  readonly of: (request: Model.Request) => Job | undefined
  /** The state of a job, from the body of an answer about it; `undefined` if the body does not say so. */
  readonly status: (answer: Answer) => "at work" | "cancelled" | "over" | undefined
  /** The usage of a cancelled job, if the answer about it has any. */
  readonly usage: (answer: Answer) => Message.Reply["usage"] | undefined
  /** The optional fields that the reply to a request should have. The request for the job must name these fields again. */
  readonly include: (request: Model.Request) => ReadonlyArray<Schema.Json>
  /** Marks a failure as that of the job itself, so that the job is not asked for again. */
  readonly over: (error: LlmError) => LlmError
  /** Makes the decoder of the events of a job. Its failures are marked by `over`. */
  readonly decoder: Codec["decoder"]
  /** Makes the error of a job that the provider no longer has. */
  readonly gone: (answer: Answer) => LlmError
}

/** A reply that the provider makes in the background. */
export interface Job {
  readonly id: string
  /** The number of the first event, if the job was begun as a stream and can be read as a stream; otherwise `undefined`. */
  readonly after: number | undefined
}
