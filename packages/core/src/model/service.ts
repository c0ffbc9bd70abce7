/** The request to a model, and its reply. */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as LlmError from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type * as Usage from "../data/Usage.ts"
import type { Price } from "../budget/Price.ts"
import type { Adaptation } from "../event/Happening.ts"

/**
 * One request to a model. `messages` is lent for the duration of the call: it belongs to the run and grows afterwards,
 * so a model that stores it has to copy it.
 */
export interface Request {
  readonly messages: Message.Transcript
  readonly tools: ReadonlyArray<Message.ToolSpec>
  readonly toolChoice: ToolChoice
  /** The form of the final text, if it has to be JSON; providers without such a feature ignore it. */
  readonly output?: OutputSpec
  /**
   * Further fields of the body of this request, under their names on the wire. They win over the `extra` of the model, and over its other
   * options, such as its temperature. One that only the library writes, such as `messages`, is an `InvalidRequestError`.
   */
  readonly options?: Readonly<Record<string, Schema.Json>>
  /** The kinds of provider calls that tools of the agent answer, see `Tool.provider`; absent if there are none. */
  readonly providerCalls?: ReadonlyArray<string>
  /** Set by a run that asks a model with `background`. */
  readonly background?: {
    /** Gets the item that names a background reply, as soon as its provider has begun it: from then on the run cancels it. */
    readonly begun: (item: Message.ProviderItem) => void
    /** Set if the run has found the reply that the request names in its records: one that is cancelled by now is begun anew. */
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
 * Whether the model may call tools: as it likes, not at all, at least one, or just this one.
 *
 * @hidden
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

/**
 * A part of a streamed reply. A tool call comes whole, when its arguments are complete. `usage` is the total that the provider has counted
 * for this reply so far: it replaces the part before, and is booked if the stream is cut off. `finish` is the
 * last part of every complete stream: nothing is read after it.
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
  /** The model's name, as its provider knows it. */
  readonly name: string
  /** The provider: `openai`, `anthropic` … */
  readonly provider: string
  /** How many tokens a request and its reply may have together, for `Agent.compactAt`; absent if that is not known. */
  readonly contextWindow?: number
  /**
   * What it costs; `reported` if its replies say their cost (`Message.Reply.cost`). A price of the budget with its name replaces it. Without
   * either, `maxCost` fails with an `UnknownPriceError`.
   */
  readonly price?: Price | "reported"
  /**
   * Whether the provider runs tools on its own side for it, such as a search: a guardrail of the input passes before it is called. The models
   * of `@kintsugi/providers` say so by their own options; of the `options` of one request it is not known.
   */
  readonly providerTools?: boolean
  readonly generate: (request: Request) => Effect.Effect<Message.Reply, LlmError.LlmError>
  readonly stream: (request: Request) => Stream.Stream<Part, LlmError.LlmError>
  /**
   * Set if the model goes on from a message of its own: a request may then end with an assistant message that is `incomplete`. The reply is
   * the `rest` of the message, or the `whole` of it. A model without this is never continued by `onPartial: "continue"`.
   */
  readonly continuation?: "rest" | "whole" | undefined
  /** Set if its provider may make replies in the background: a paused reply then names one in an item of the kind `background_job`. */
  readonly background?: {
    /** Cancels the reply that the last message of the request names; gives the usage that the provider then reports. */
    readonly cancel: (request: Request) => Effect.Effect<Usage.Usage | undefined>
  }
  /**
   * What it changes of a request before it sends it, because the model does not take the request as it was asked; `undefined` if it changes
   * nothing. A run emits `request-adapted` then.
   */
  readonly adapts?: (request: Request) => Adaptation | undefined
  /**
   * Asks the provider how many tokens a request has, for `Agent.compactAt`; absent if the provider does not say. It is no attempt of a run, and the
   * ledger has no entry of it.
   */
  readonly countTokens?: (request: Request) => Effect.Effect<number, LlmError.LlmError>
  /** Whether its wire carries this image or file in the result of a tool; it carries none by default. */
  readonly showsInResults?: (part: Exclude<Message.UserContent[number], Message.Text>) => boolean
}
