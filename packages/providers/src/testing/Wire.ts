/**
 * A wire format as a server speaks it. A brain gets what was asked, says what the model replies, and need know neither the
 * format nor whether the reply goes out whole or streamed.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as LoopbackServer from "./LoopbackServer.ts"
import type { Split } from "./Split.ts"

/** The formats that a server can speak, by name. */
export type Format = "anthropic-messages" | "gemini-content" | "ollama-chat" | "openai-chat" | "openai-responses"

/** What a model can know of a request, in the words of this library whatever its format. */
export interface BrainRequest {
  readonly format: Format
  readonly model: string
  /** Oldest first, system texts included; a result stands after its call, as a message of its own. */
  readonly messages: ReadonlyArray<Message.Foreign>
  /** The tools of the client; those that the provider itself would run are only in `received`. */
  readonly tools: ReadonlyArray<Message.ToolSpec>
  readonly toolChoice: Model.ToolChoice
  readonly isStreamed: boolean
  /** The same request as it came. */
  readonly received: LoopbackServer.Received
}

/** A reply, of which only the content has to be said. */
export interface BrainReply {
  /** Arguments of calls are objects, or a text; one that is no JSON goes out as it is. Provider items are left out. */
  readonly content: Message.Reply["content"]
  /** `tool-calls` if the content has calls, else `stop`. */
  readonly finish?: Message.FinishReason
  readonly usage?: Usage.Usage
}

/** Plays the model. */
export interface Brain {
  (request: BrainRequest): Effect.Effect<BrainReply>
}

/** What a server lets in. */
export interface Rules {
  /** The only key that is accepted. By default any is, but there has to be one, save where the real service wants none. */
  readonly apiKey?: string
  /** The models that there are; by default every name is one. */
  readonly models?: ReadonlyArray<string>
}

/** What a server has to say against a request, or against its own state. Each format has its own words and status for it. */
export type Failure =
  | { readonly type: "invalid-request"; readonly message: string; readonly code?: string }
  | { readonly type: "unauthorized"; readonly isKeyGiven: boolean }
  | { readonly type: "unknown-model"; readonly model: string }
  /** With the hint of the format, if it has one; one second by default. */
  | { readonly type: "rate-limited"; readonly retryAfter?: Duration.Input }
  /** Nothing is left, and waiting does not help. */
  | { readonly type: "quota-exhausted" }
  | { readonly type: "overloaded" }
  | { readonly type: "server-error" }

/** One format as a server speaks it: reads requests, writes replies and failures. */
export interface Wire {
  readonly format: Format
  /** Whether a path, without its query, is one of this format. */
  readonly serves: (path: string) => boolean
  /** Whether the real service demands a key. */
  readonly isKeyNeeded: boolean
  readonly keyOf: (received: LoopbackServer.Received) => string | undefined
  /** The request, or what the real service has against it. */
  readonly read: (received: LoopbackServer.Received) => Result.Result<BrainRequest, Failure>
  /** The reply as the request wants it, whole or streamed. */
  readonly render: (request: BrainRequest, reply: BrainReply) => LoopbackServer.Answer
  /** The answer in the place of a reply. */
  readonly refuse: (failure: Failure) => LoopbackServer.Answer
  /** The last of a stream that breaks off, after so many events. */
  readonly breakOff: (failure: Failure, received: LoopbackServer.Received, events: number) => string
  /** What one event of a stream ends with. */
  readonly split: Split
}

/** A handler that lets a brain answer whatever the real service would take, and refuses the rest in its words. */
export const handler =
  (wire: Wire, brain: Brain, rules: Rules = {}): LoopbackServer.Handler =>
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
