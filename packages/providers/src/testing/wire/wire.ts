/**
 * The types of a wire format from the server's side. A brain receives a request and returns the model's reply; it does not need to know the
 * format, or whether the reply is streamed.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { Answer, Received } from "../handling.ts"
import type { Split } from "../split.ts"

/** The formats of the models of this package. */
export type ClientFormat = "anthropic-messages" | "gemini-content" | "ollama-chat" | "openai-chat" | "openai-responses"

/** The names of the formats that a server supports. */
export type Format = ClientFormat | "gemini-interactions"

/** A request in this library's terms. It has the same shape for every format. */
export interface BrainRequest {
  readonly format: Format
  readonly model: string
  /** The messages, oldest first, system texts included. The result of a call is a message of its own that follows the call. */
  readonly messages: ReadonlyArray<Message.Foreign>
  /** The tools of the client. Tools that the provider would run itself are only in `received`. */
  readonly tools: ReadonlyArray<Message.ToolSpec>
  readonly toolChoice: Model.ToolChoice
  readonly isStreamed: boolean
  /** The request as it was received. */
  readonly received: Received
}

/** A reply of the model. Only the content is required. */
export interface BrainReply {
  /**
   * The content of the reply. Arguments of calls are objects or texts; an invalid JSON text is sent unchanged. The data of a provider item
   * is sent unchanged in the format of that provider (`openai`: Responses), and omitted in the others.
   */
  readonly content: Message.Reply["content"]
  /** The finish reason. By default `tool-calls` if the content has calls, else `stop`. */
  readonly finish?: Message.FinishReason
  readonly usage?: Usage.Usage
}

/** Plays the model: a function from a request to a reply, for every format. */
export interface Brain {
  (request: BrainRequest): Effect.Effect<BrainReply>
}

/** Rules of a server: which requests it accepts, how it counts tokens, and how its background jobs go. */
export interface Rules {
  /** The only accepted key. By default any key is accepted, and is required if the real service requires one. */
  readonly apiKey?: string
  /** The existing models; by default every name exists. */
  readonly models?: ReadonlyArray<string>
  /** Counts the tokens of a request, for clients that ask for their number. By default one token for every four characters. */
  readonly tokens?: (request: BrainRequest) => number
  /** The script of background jobs (`background: true`), in the formats that have them. */
  readonly jobs?: Jobs
}

/**
 * The script of every background job. The brain makes the reply when the job is created, once for each job; the job reports that reply when
 * the polls of the script are over.
 */
export interface Jobs {
  /**
   * The states that polls report before the job ends: a list with one state for each poll, or a function of the number of the poll, from 1;
   * `undefined` ends the job. By default the first poll reports `in_progress`. A state that is neither `queued` nor `in_progress` throws a
   * `RangeError`.
   */
  readonly polls?: ReadonlyArray<Poll> | ((poll: number) => Poll | undefined)
  /** The failure with which the job ends instead of the brain's reply. */
  readonly failure?: Failure
  /** The usage that a cancelled job reports; by default none. */
  readonly usageWhenCancelled?: Usage.Usage
}

/** The state that a poll reports while the job is running. */
export type Poll = "queued" | "in_progress"

/** A background job and its present state. */
export interface Job {
  readonly request: BrainRequest
  readonly reply: BrainReply
  readonly status: Poll | "ended" | "failed" | "cancelled"
  readonly failure?: Failure
  /** The usage that a cancelled job reports. */
  readonly usage?: Usage.Usage
}

/** A client's request about a job: for its state, for its events after a number, or for its cancellation. */
export interface AboutJob {
  readonly id: string
  readonly asks: "state" | "events" | "cancel"
  /** The number of the last event that the client has received; -1 for none. */
  readonly after: number
}

/** How a format creates background jobs and answers requests about them. */
export interface JobWords {
  /** Whether this request creates a background job. */
  readonly isJob: (request: BrainRequest) => boolean
  /** Whether the reply to a request is stored for later requests. This holds for requests without a job too. */
  readonly isStored: (request: BrainRequest) => boolean
  /** The messages of a stored request that are carried over to later requests. By default all except system texts. */
  readonly carried?: (request: BrainRequest) => ReadonlyArray<Message.Foreign>
  readonly idOf: (request: BrainRequest) => string
  /** Reads a request about a job; `undefined` for every other request. */
  readonly about: (received: Received) => AboutJob | undefined
  readonly state: (job: Job) => Answer
  /** The answer with the events of a job after a number. */
  readonly events: (job: Job, after: number) => Answer
  readonly unknown: (id: string) => Answer
  /** The refusal of a request for the events of a job that was not created as a stream. */
  readonly unstreamed: (id: string) => Answer
}

/** How a format answers requests for the number of tokens. */
export interface CountWords {
  /** Whether a path asks for the number of tokens. */
  readonly serves: (path: string) => boolean
  /** The request whose tokens are to be counted, or its refusal; `undefined` for a request that does not ask for a number of tokens. */
  readonly request: (received: Received) => Result.Result<Received, Failure> | undefined
  readonly answer: (tokens: number) => object
}

/** The reason why a server refuses a request or cannot serve it. Each format has its own message and status for it. */
export type Failure =
  | { readonly type: "invalid-request"; readonly message: string; readonly code?: string }
  | { readonly type: "unauthorized"; readonly isKeyGiven: boolean }
  | { readonly type: "unknown-model"; readonly model: string }
  /** A rate limit. Formats with a hint about the wait send `retryAfter`; one second by default. */
  | { readonly type: "rate-limited"; readonly retryAfter?: Duration.Input }
  /** A spent quota, which does not come back by waiting. */
  | { readonly type: "quota-exhausted" }
  | { readonly type: "overloaded" }
  | { readonly type: "server-error" }

/** Returns the messages of a stored conversation, by the id of its last reply; `undefined` if it is not stored. */
export interface Earlier {
  (id: string): ReadonlyArray<Message.Foreign> | undefined
}

/** A wire format from the server's side: it reads requests, and writes replies and failures. */
export interface Wire<F extends Format = Format> {
  readonly format: F
  /** Whether a path (without its query) belongs to this format. */
  readonly serves: (path: string) => boolean
  /** Whether the real service requires an API key. */
  readonly isKeyNeeded: boolean
  readonly keyOf: (received: Received) => string | undefined
  /**
   * Reads a request. Returns the failure with which the real service would refuse it, if so. `earlier` returns stored conversations by the
   * id of their last reply.
   */
  readonly read: (received: Received, earlier: Earlier) => Result.Result<BrainRequest, Failure>
  /** Writes the answer with a reply, whole or streamed, as the request wants it. */
  readonly render: (request: BrainRequest, reply: BrainReply) => Answer
  /** Writes the answer with a failure. */
  readonly refuse: (failure: Failure) => Answer
  /** Writes the last event of a stream that fails after this many events. */
  readonly breakOff: (failure: Failure, received: Received, events: number) => string
  /** Where the events of a stream end, so that a stream can be cut between them. */
  readonly split: Split
  readonly jobs?: JobWords
  readonly counts?: CountWords
}
