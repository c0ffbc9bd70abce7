/** The options of a model call, and the state of its current attempt. */
import type * as Effect from "effect/Effect"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import type * as RunContext from "../event/RunContext.ts"
import type * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import type { Counted } from "../model/ModelCall.ts"
import type { AdaptsParts } from "../tool/ToolDefinition.ts"
import type { Rows } from "../recovery/Node.ts"

/** The options of one model call, with the table that guards it. */
export interface ModelCallOptions {
  readonly model: Model.Service
  readonly request: Model.Request
  /** Changes the request right before it is sent. */
  readonly sent?: ((request: Model.Request) => Model.Request) | undefined
  /** Replaces parts of tool results that the model cannot read. */
  readonly adaptsParts?: AdaptsParts | undefined
  /** The table of `onLlmError`. */
  readonly rows: Rows
  readonly onPartial: "fail" | "restart" | Continuing
  /** The text that the first attempt continues, if the run continues an incomplete reply. */
  readonly prefix?: Prefix | undefined
  readonly transport?: "off" | undefined
  readonly isStreamed: boolean
  /** Whether the text is shown only to readers of an ancestor. It is discarded before another model is called. */
  readonly isAside?: boolean
  readonly run: RunContext.RunContext
  /** The message with the run's input, for agents that shorten its conversation. */
  readonly input?: Message.User
  readonly conversation?: Conversation
  /** Whether an empty reply counts as an answer; never by default. */
  readonly mayBeEmpty?: () => boolean
  /** Whether an empty reply is not repeated unless a row says so. */
  readonly isOnce?: boolean
  /** Holds back the reply until it has passed the guardrails. */
  readonly hold?: Hold | undefined
  /** The part of the run that calls the model, such as its router; absent for the loop. */
  readonly purpose?: Ledger.Entry["purpose"]
}

/** The functions by which a model call reads and changes the conversation of its run. */
interface Conversation {
  /** Called with the text of this attempt that a reader has seen; `undefined` once that text is discarded. */
  readonly show: (text: string | undefined) => void
  /** How many compactions there were in this turn before the call. */
  readonly compactionsAhead: number
  /** Called with the compacted conversation. */
  readonly compact: (messages: Message.Transcript) => void
}

/** The state between two attempts. */
export interface Idle {
  readonly type: "Idle"
  /** The number of attempts so far, over all single models. */
  readonly attempts: number
  /** The text and reasoning that a reader has seen of the last attempt. The text includes what the attempt has continued. */
  readonly shown: Shown | undefined
}

export interface Shown {
  readonly text: string
  readonly of: Model.Collector
}

/** The state during an attempt, until it is booked. */
export interface Attempting extends Omit<Idle, "type"> {
  readonly type: "Attempting"
  readonly model: Model.Service
  readonly request: Model.Request
  /** The reply, or the usage that the provider has reported for it so far. */
  readonly spent: Counted & Partial<Pick<Message.Reply, "content" | "serviceTier">>
}

/** The state of a model call. */
export interface Calling {
  readonly options: ModelCallOptions
  /** The request, whose conversation a compaction may have shortened since. */
  request: Model.Request
  state: Idle | Attempting
  /** The text that the next attempt continues. */
  prefix?: Prefix | undefined
  /** The background replies at work, at most one for each model. The call cancels those that it no longer needs. */
  jobs?: Map<Model.Service, Job> | undefined
}

/** A background reply. Each later attempt with its model asks for this reply instead of beginning another one. */
export interface Job {
  /** The request that began the reply, and the message that names it. */
  readonly request: Model.Request
  readonly message: Message.Assistant
  /** The text that the reply continues. */
  readonly base: Prefix | undefined
  /** Whether another process has begun the reply, so that this process knows it from a record. */
  readonly isFound: boolean
  /** Whether the paused reply that names the job is recorded. */
  isRecorded: boolean
  /** The text that a reader has seen of it so far. */
  shown: string
}

/** How a broken reply is continued from the text that was shown: see `Continuing.ts`. */
export interface Continuing {
  /** Whether the text of a broken attempt is kept. Otherwise only the text of an earlier run is. */
  readonly keepsText: boolean
  /** How a model that cannot continue its own message is asked for the rest: by a user message. */
  readonly by: "message" | undefined
  /** Whether another attempt may follow, given the text that a reader has seen. */
  readonly admits: (call: Calling) => boolean
  /** Prepares the next attempt to continue the text; `undefined` if the attempt replaces the text instead. */
  readonly goOn: (call: Calling) => Effect.Effect<void> | undefined
  /**
   * Continues the text of an attempt whose process has died.
   *
   * @internal
   */
  readonly afterDeath?: (call: Calling, model: Model.Service) => Interception.GoesOn
}

/** The text of a broken reply, which the next attempts continue. */
export interface Prefix {
  readonly text: string
  readonly request: (model: Model.Service, request: Model.Request) => Model.Request
  /** The same model, with the repeated text filtered out of its replies. */
  readonly around: (model: Model.Service) => Model.Service
  /** The whole reply. */
  readonly joined: (reply: Message.Reply) => Message.Reply
  /** The same text for a background reply that began behind `base`: the provider sends that reply from its beginning again. */
  readonly within: (base: Prefix | undefined) => Prefix
}

/** A reply, or the answer of a row. */
export type Answer =
  | { readonly type: "reply"; readonly reply: Message.Reply }
  | { readonly type: "answered"; readonly value: unknown }

/** The outcome of a model call: a reply with its tool calls, the answer of a row, or an interruption by a message. */
export type Asked = Replied | Extract<Answer, { readonly type: "answered" }> | { readonly type: "interrupted" }

export interface Replied extends Extract<Answer, { readonly type: "reply" }> {
  readonly calls: ReadonlyArray<Message.ToolCall>
}

/** Shows parts of this attempt to readers of the stream; with `anew`, what they have seen of it is discarded first. */
export type Show = (parts: ReadonlyArray<Model.Part>, anew?: boolean) => Effect.Effect<void>

/** Holds back a reply until it has passed the guardrails. */
export interface Hold {
  /** Whether the last reply was blocked, or replaced by an empty text. The run continues with an empty reply then. */
  readonly isEmptied: boolean
  /** Waits until the user's words have passed; absent if they have passed already. */
  readonly gate: Effect.Effect<void> | undefined
  /** Takes the parts of a streamed reply, and shows those that have passed. */
  readonly parts: (parts: ReadonlyArray<Model.Part>, show: Show) => Effect.Effect<void>
  /** Takes a whole reply, shows the rest of it, and returns the reply with which the run continues. */
  readonly reply: (reply: Message.Reply, show: Show) => Effect.Effect<Message.Reply>
  /** Waits until the reply of an attempt has passed. */
  readonly passed: (call: Calling, attempting: Attempting, reply: Message.Reply) => Effect.Effect<Message.Reply>
  /**
   * Begins an attempt that continues the text `before`, or clears what is held back between attempts. With `isSteady`, the shown text must
   * not depend on how the reply is cut into parts: a replay gets all parts at once.
   */
  readonly begin: (before: string, isSteady?: boolean) => void
}
