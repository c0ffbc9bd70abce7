/**
 * A wire format from the server's side. A brain receives a request and returns the model's reply; it need not know
 * the format, or whether the reply is streamed.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Answer, Handler, Received } from "../handling.ts"
import type { Split } from "../split.ts"

/** The names of the formats that a server supports. */
export type Format = "anthropic-messages" | "gemini-content" | "ollama-chat" | "openai-chat" | "openai-responses"

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
  /** Arguments of calls are objects or texts; an invalid JSON text is sent unchanged. Provider items are left out. */
  readonly content: Message.Reply["content"]
  /** `tool-calls` if the content has calls, else `stop`. */
  readonly finish?: Message.FinishReason
  readonly usage?: Usage.Usage
}

/** Plays the model: returns the reply to a request, in every format. */
export interface Brain {
  (request: BrainRequest): Effect.Effect<BrainReply>
}

/** The rules for access to a server. */
export interface Rules {
  /** The only accepted key. By default any key is accepted, and is required if the real service requires one. */
  readonly apiKey?: string
  /** The existing models; by default every name exists. */
  readonly models?: ReadonlyArray<string>
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

/** One format from the server's side: reads requests, writes replies and failures. */
export interface Wire {
  readonly format: Format
  /** Whether a path, without its query, belongs to this format. */
  readonly serves: (path: string) => boolean
  /** Whether the real service demands a key. */
  readonly isKeyNeeded: boolean
  readonly keyOf: (received: Received) => string | undefined
  /** The request, or the failure with which the real service would refuse it. */
  readonly read: (received: Received) => Result.Result<BrainRequest, Failure>
  /** The reply, whole or streamed as requested. */
  readonly render: (request: BrainRequest, reply: BrainReply) => Answer
  /** The answer for a failure. */
  readonly refuse: (failure: Failure) => Answer
  /** The last event of a stream that breaks off after this many events. */
  readonly breakOff: (failure: Failure, received: Received, events: number) => string
  /** Where one event of a stream ends. */
  readonly split: Split
}

/**
 * A handler that lets a brain answer every request that the real service would accept, and refuses others with the
 * service's own failures.
 */
export const handler =
  (wire: Wire, brain: Brain, rules: Rules = {}): Handler =>
  (received) => {
    const key = wire.keyOf(received)
    const isLetIn = rules.apiKey === undefined ? key !== undefined || !wire.isKeyNeeded : key === rules.apiKey
    const refuse = (failure: Failure) => Effect.succeed(wire.refuse(failure))
    if (!isLetIn) return refuse({ type: "unauthorized", isKeyGiven: key !== undefined })
    return Result.match(wire.read(received), {
      onFailure: refuse,
      onSuccess: (request) => {
        const { model } = request
        if (rules.models?.includes(model) === false) return refuse({ type: "unknown-model", model })
        return Effect.map(brain(request), (reply) => wire.render(request, reply))
      }
    })
  }
