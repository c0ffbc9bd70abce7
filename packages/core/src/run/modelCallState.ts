/** What a run asks of a model, and the state of the current attempt. */
import type * as Effect from "effect/Effect"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import type * as RunContext from "../event/RunContext.ts"
import type * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import type { Counted } from "../model/ModelCall.ts"
import type { AdaptsParts } from "../tool/ToolDefinition.ts"
import type { Rows } from "../recovery/Node.ts"

/** One model call, and what guards it. */
export interface ModelCallOptions {
  readonly model: Model.Service
  readonly request: Model.Request
  /** The request as it is sent. */
  readonly sent?: ((request: Model.Request) => Model.Request) | undefined
  /** Adapts results of tools to a model that cannot read all of them. */
  readonly adaptsParts?: AdaptsParts | undefined
  /** The table of `onLlmError`. */
  readonly rows: Rows
  readonly onPartial: "fail" | "restart" | Continuing
  /** The text from which its first attempt goes on, where a run goes on in the middle of a reply. */
  readonly prefix?: Prefix | undefined
  readonly transport?: "off" | undefined
  readonly isStreamed: boolean
  /** Whether its text is shown to readers of an ancestor alone: it is discarded before another model is asked. */
  readonly isAside?: boolean
  readonly run: RunContext.RunContext
  /** The input of the run, for the agents that shorten its conversation. */
  readonly input?: Message.User
  readonly conversation?: Conversation
  /** Whether an empty reply is an answer; never by default. */
  readonly mayBeEmpty?: () => boolean
  /** Whether an empty reply is not asked for again, unless a row says so. */
  readonly isOnce?: boolean
  /** Holds back what the model says until it has passed the guardrails of the run. */
  readonly hold?: Hold | undefined
  /** Which part of the run asks, where it is not its loop. */
  readonly purpose?: Ledger.Entry["purpose"]
}

/** The conversation in which the model is called. */
interface Conversation {
  /** Gets the text of the present attempt that a reader has seen; `undefined` where it counts no more. */
  readonly show: (text: string | undefined) => void
  /** How often the conversation was shortened in this turn before the call. */
  readonly compactionsAhead: number
  /** Gets the shortened conversation once the conversation was too long. */
  readonly compact: (messages: Message.Transcript) => void
}

/** No attempt is at work. */
export interface Idle {
  readonly type: "Idle"
  /** How many attempts there were so far, of all models that the model is made of. */
  readonly attempts: number
  /** What a reader has seen of the last attempt, reasoning included; the text also has what the attempt goes on from. */
  readonly shown: Shown | undefined
}

export interface Shown {
  readonly text: string
  readonly of: Model.Collector
}

/** An attempt has begun and is not booked yet. */
export interface Attempting extends Omit<Idle, "type"> {
  readonly type: "Attempting"
  readonly model: Model.Service
  readonly request: Model.Request
  /** Its reply, or the usage that the provider has reported for it so far. */
  readonly spent: Counted & Partial<Pick<Message.Reply, "content" | "serviceTier">>
}

/** A model call under way. */
export interface Calling {
  readonly options: ModelCallOptions
  /** The request, with the conversation as the model reads it now. */
  request: Model.Request
  state: Idle | Attempting
  /** The text from which the next attempt goes on. */
  prefix?: Prefix | undefined
  /** The background replies that have begun and are not over: one of each model. The call cancels those that it no longer waits for. */
  jobs?: Map<Model.Service, Job> | undefined
}

/** A reply that a provider makes in the background. Every later attempt with its model asks for it. */
export interface Job {
  /** The request that has begun it, and the message that names it. */
  readonly request: Model.Request
  readonly message: Message.Assistant
  /** The text that it goes on from. */
  readonly base: Prefix | undefined
  /** Whether a record alone names it: another process has begun it. */
  readonly isFound: boolean
  /** Whether the paused reply that names it has come to its step, which is recorded. */
  isRecorded: boolean
  /** What a reader has seen behind that, up to the end of the last attempt that asked for it. */
  shown: string
}

/** How replies that break off go on from the text that was shown: see `Continuing.ts`. */
export interface Continuing {
  /** Whether an attempt that breaks off keeps its text; otherwise only the text of an earlier run stays. */
  readonly keepsText: boolean
  /** What asks a model for the rest that does not go on from a message of its own. */
  readonly by: "message" | undefined
  /** Whether another attempt may be made after what a reader has seen. */
  readonly admits: (call: Calling) => boolean
  /** Before another attempt: it goes on from the text; `undefined` if it replaces the text. */
  readonly goOn: (call: Calling) => Effect.Effect<void> | undefined
  /**
   * How this model goes on from the text of an attempt whose process has died.
   *
   * @internal
   */
  readonly afterDeath?: (call: Calling, model: Model.Service) => Interception.GoesOn
}

/** The text of a reply that broke off, from which the next attempts go on. */
export interface Prefix {
  readonly text: string
  readonly request: (model: Model.Service, request: Model.Request) => Model.Request
  /** The same model, whose reply has nothing of the text. */
  readonly around: (model: Model.Service) => Model.Service
  /** The whole reply. */
  readonly joined: (reply: Message.Reply) => Message.Reply
  /** The same text, where it ends within a background reply that has begun behind `base`: that comes from its beginning again. */
  readonly within: (base: Prefix | undefined) => Prefix
}

/** A reply, or what the table answered in its place. */
export type Answer =
  | { readonly type: "reply"; readonly reply: Message.Reply }
  | { readonly type: "answered"; readonly value: unknown }

/** The reply of the model that a run has called, with its tool calls; the answer of a row; or nothing, if a message came first. */
export type Asked = Replied | Extract<Answer, { readonly type: "answered" }> | { readonly type: "interrupted" }

export interface Replied extends Extract<Answer, { readonly type: "reply" }> {
  readonly calls: ReadonlyArray<Message.ToolCall>
}

/** Shows parts of the present attempt to the readers of a stream; `anew` takes back what they have seen of it. */
export type Show = (parts: ReadonlyArray<Model.Part>, anew?: boolean) => Effect.Effect<void>

/** Holds back what a model says until it has passed. */
export interface Hold {
  /** Whether the last reply was blocked, or replaced by an empty text: the run goes on with an empty reply. */
  readonly isEmptied: boolean
  /** Waits until the words of the user have passed; absent if they have. */
  readonly gate: Effect.Effect<void> | undefined
  /** Gets the parts of a streamed reply as they come, and shows those that have passed. */
  readonly parts: (parts: ReadonlyArray<Model.Part>, show: Show) => Effect.Effect<void>
  /** Gets a whole reply, shows what is left of it, and gives it as the run goes on with it. */
  readonly reply: (reply: Message.Reply, show: Show) => Effect.Effect<Message.Reply>
  /** A reply of an attempt, once it has passed. */
  readonly passed: (call: Calling, attempting: Attempting, reply: Message.Reply) => Effect.Effect<Message.Reply>
  /**
   * An attempt begins, which goes on from this text; or none is at work, and nothing of the last one is held. `isSteady`: if it breaks off, a
   * replay that gets its parts at once has to show the same of it.
   */
  readonly begin: (before: string, isSteady?: boolean) => void
}
