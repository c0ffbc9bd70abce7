/**
 * A wire format from the server's side. A brain receives a request and returns the model's reply; it need not know
 * the format, or whether the reply is streamed.
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

/** A request in this library's terms, the same for every format. */
export interface BrainRequest {
  readonly format: Format
  readonly model: string
  /** Oldest first, system texts included. A result follows its call as a message of its own. */
  readonly messages: ReadonlyArray<Message.Foreign>
  /** The tools of the client. Tools that the provider would run itself are only in `received`. */
  readonly tools: ReadonlyArray<Message.ToolSpec>
  readonly toolChoice: Model.ToolChoice
  readonly isStreamed: boolean
  /** The request as it was received. */
  readonly received: Received
}

/** A reply; only the content is required. */
export interface BrainReply {
  /**
   * Arguments of calls are objects or texts; an invalid JSON text is sent unchanged. The data of a provider item is sent as it
   * is by the format of its provider (`openai`: Responses), and left out by all others.
   */
  readonly content: Message.Reply["content"]
  /** `tool-calls` if the content has calls, else `stop`. */
  readonly finish?: Message.FinishReason
  readonly usage?: Usage.Usage
}

/** Plays the model: returns the reply to a request. It plays in every format. */
export interface Brain {
  (request: BrainRequest): Effect.Effect<BrainReply>
}

/** The rules for access to a server. */
export interface Rules {
  /** The only accepted key. By default any key is accepted, and is required if the real service requires one. */
  readonly apiKey?: string
  /** The existing models; by default every name exists. */
  readonly models?: ReadonlyArray<string>
  /** How many tokens a request has, for clients that ask for their count; by default a quarter of its characters. */
  readonly tokens?: (request: BrainRequest) => number
  /** How jobs in the background go (`background: true`), in the formats that have them. */
  readonly jobs?: Jobs
}

/**
 * How each job in the background goes. The brain answers when the job is created, once for each job; how often a client
 * polls decides when the job reports that reply.
 */
export interface Jobs {
  /**
   * What the polls report before the job ends: a list, one word for each poll, or a function of the number of the poll, from
   * 1; `undefined` ends the job. By default the first poll reports `in_progress`. Any other word is refused with a `RangeError`.
   */
  readonly polls?: ReadonlyArray<Poll> | ((poll: number) => Poll | undefined)
  /** The job fails for this reason, and not with the reply of the brain. */
  readonly failure?: Failure
  /** What a cancelled job reports to have used; by default it reports nothing. */
  readonly usageWhenCancelled?: Usage.Usage
}

/** What a job reports while it is not over. */
export type Poll = "queued" | "in_progress"

/** A job in the background, as it is reported now. */
export interface Job {
  readonly request: BrainRequest
  readonly reply: BrainReply
  readonly status: Poll | "ended" | "failed" | "cancelled"
  readonly failure?: Failure
  /** What it has used if it was cancelled. */
  readonly usage?: Usage.Usage
}

/** What a request asks about a job: its state, its events after a number, or that it stops. */
export interface AboutJob {
  readonly id: string
  readonly asks: "state" | "events" | "cancel"
  /** The number of the last event that the client knows; -1 for none. */
  readonly after: number
}

/** What a format says about jobs in the background. */
export interface JobWords {
  /** Whether this request creates a job. */
  readonly isJob: (request: BrainRequest) => boolean
  /** Whether its reply is stored for later requests, a job or not. */
  readonly isStored?: (request: BrainRequest) => boolean
  /** What later requests carry over of its messages: by default all but system texts. */
  readonly carried?: (request: BrainRequest) => ReadonlyArray<Message.Foreign>
  readonly idOf: (request: BrainRequest) => string
  /** `undefined` for a request that is about no job. */
  readonly about: (received: Received) => AboutJob | undefined
  readonly state: (job: Job) => Answer
  /** The events of the job after a number, to the end. */
  readonly events: (job: Job, after: number) => Answer
  readonly unknown: (id: string) => Answer
  /** Refuses the events of a job that was not created as a stream. */
  readonly unstreamed: (id: string) => Answer
}

/** What a format says about counts of tokens. */
export interface CountWords {
  /** Whether a path asks for one. */
  readonly serves: (path: string) => boolean
  /** The request whose tokens are counted, or why it is refused; `undefined` for a request that asks for no count. */
  readonly request: (received: Received) => Result.Result<Received, Failure> | undefined
  readonly answer: (tokens: number) => object
}

/** Why a server refuses a request or cannot serve it. Each format has its own words and status for it. */
export type Failure =
  | { readonly type: "invalid-request"; readonly message: string; readonly code?: string }
  | { readonly type: "unauthorized"; readonly isKeyGiven: boolean }
  | { readonly type: "unknown-model"; readonly model: string }
  /** With the format's hint, if it has one; one second by default. */
  | { readonly type: "rate-limited"; readonly retryAfter?: Duration.Input }
  /** No quota is left, and waiting does not help. */
  | { readonly type: "quota-exhausted" }
  | { readonly type: "overloaded" }
  | { readonly type: "server-error" }

/** The messages of a stored conversation that later requests carry over. */
export interface Earlier {
  (id: string): ReadonlyArray<Message.Foreign> | undefined
}

/** One format from the server's side: reads requests, writes replies and failures. */
export interface Wire<F extends Format = Format> {
  readonly format: F
  /** Whether a path, without its query, belongs to this format. */
  readonly serves: (path: string) => boolean
  /** Whether the real service demands a key. */
  readonly isKeyNeeded: boolean
  readonly keyOf: (received: Received) => string | undefined
  /**
   * The request, or the failure with which the real service would refuse it. `earlier` has the conversations that are stored, by the
   * id of their last reply.
   */
  readonly read: (received: Received, earlier: Earlier) => Result.Result<BrainRequest, Failure>
  /** The reply, whole or streamed as requested. */
  readonly render: (request: BrainRequest, reply: BrainReply) => Answer
  /** The answer for a failure. */
  readonly refuse: (failure: Failure) => Answer
  /** The last event of a stream that breaks off after this many events. */
  readonly breakOff: (failure: Failure, received: Received, events: number) => string
  /** Where one event of a stream ends. */
  readonly split: Split
  readonly jobs?: JobWords
  readonly counts?: CountWords
}
