/** The interface of a model: its request, its reply parts and its service. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as LlmError from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type * as Usage from "../data/Usage.ts"
import type { Price } from "../budget/Price.ts"
import type { Adaptation } from "../event/Happening.ts"

/** One request to a model. `messages` belongs to the run and grows after the call, so a model that stores it has to copy it. */
export interface Request {
  readonly messages: Message.Transcript
  readonly tools: ReadonlyArray<Message.ToolSpec>
  readonly toolChoice: ToolChoice
  /** The whole conversation, if a compaction has left out parts of it in `messages`. Layers around a model may read it; no model does. */
  readonly uncompacted?: Message.Transcript
  /** The form of the final text, if it has to be JSON. Providers without such a feature ignore it. */
  readonly output?: OutputSpec
  /**
   * Further fields for the body of this request, under their names on the wire. They override the `extra` of the model and its other
   * options, such as its temperature. A field that only the library writes, such as `messages`, is an `InvalidRequestError`.
   */
  readonly options?: Readonly<Record<string, Schema.Json>>
  /** The kinds of provider calls that tools of the agent answer (`Tool.provider`); absent if there are none. */
  readonly providerCalls?: ReadonlyArray<string>
  /** Set if the run calls the model with `background`. */
  readonly background?: {
    /**
     * Gets the item that names a background reply, as soon as its provider has begun it. From then on the run is able to cancel the reply.
     */
    readonly begun: (item: Message.ProviderItem) => void
    /** Set if the run has found the named reply in its records. If the provider has cancelled that reply, the model begins a new one. */
    readonly isFound?: true
  }
}

/**
 * The JSON form of the answer. `schema` is a JSON Schema.
 *
 * @hidden
 */
export interface OutputSpec {
  readonly name: string
  readonly schema: Message.ToolSpec["parameters"]
}

/**
 * Whether the model may call tools: `auto` leaves it to the model, `none` forbids calls, `required` demands at least one, and `{ tool }`
 * demands this one.
 *
 * @hidden
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

/**
 * A part of a streamed reply. A tool call is one part, after its arguments are complete. `usage` is the provider's total for this reply so
 * far; it replaces an earlier one, and is booked if the stream breaks off. `finish` is the last part of every complete stream; later parts
 * are not read.
 */
export type Part =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string; readonly opaque?: Message.Opaque }
  | Message.ToolCall
  | Message.ProviderItem
  | {
      readonly type: "usage"
      readonly usage: Usage.Usage
      readonly isEstimated?: true
      readonly resent?: Usage.Usage
      readonly cost?: number
    }
  | {
      readonly type: "finish"
      readonly finish: Message.FinishReason
      readonly usage: Usage.Usage
      readonly isEstimated?: true
      readonly resent?: Usage.Usage
      readonly cost?: number
      readonly model?: string
      readonly responseId?: string
      readonly requestId?: string
      readonly rawFinish?: string
      readonly serviceTier?: string
    }

/** A model: one request in, one reply out, whole or streamed. */
export interface Service {
  /** The name of the model at its provider. */
  readonly name: string
  /** The provider: `openai`, `anthropic` … */
  readonly provider: string
  /** The most tokens of a request and its reply together, for `Agent.compactAt`; absent if unknown. */
  readonly contextWindow?: number
  /**
   * The price of the model; `reported` if its replies state their cost (`Message.Reply.cost`). A price of the budget for this name replaces
   * it. Without either, `maxCost` fails with an `UnknownPriceError`.
   */
  readonly price?: Price | "reported"
  /**
   * Whether the provider runs tools for the model, such as a search. An input guardrail then has to pass before the model is called. The
   * models of `@kintsugi/providers` derive it from their own options, not from the `options` of a request.
   */
  readonly providerTools?: boolean
  readonly generate: (request: Request) => Effect.Effect<Message.Reply, LlmError.LlmError>
  readonly stream: (request: Request) => Stream.Stream<Part, LlmError.LlmError>
  /**
   * Set if the model can continue its own message: a request may then end with an `incomplete` assistant message. The reply is the `rest`
   * of the message, or the `whole` of it. `onPartial: "continue"` never continues a model without this.
   */
  readonly continuation?: "rest" | "whole" | undefined
  /** Set if the provider can make replies in the background. A paused reply then has an item of the kind `background_job`. */
  readonly background?: {
    /** Cancels the reply that the last message of the request names. Returns the usage that the provider then reports. */
    readonly cancel: (request: Request) => Effect.Effect<Usage.Usage | undefined>
  }
  /**
   * The changes that the model makes to a request before it sends it, because it does not support the request as it is; `undefined` without
   * changes. A run then emits `request-adapted`.
   */
  readonly adapts?: (request: Request) => Adaptation | undefined
  /**
   * Asks the provider for the number of tokens of a request, for `Agent.compactAt`; absent if the provider does not count. It is no attempt
   * of a run and has no ledger entry.
   */
  readonly countTokens?: (request: Request) => Effect.Effect<number, LlmError.LlmError>
  /** Whether the model accepts this image or file in the result of a tool. Absent means that it accepts none. */
  readonly showsInResults?: (part: Exclude<Message.UserContent[number], Message.Text>) => boolean
}
