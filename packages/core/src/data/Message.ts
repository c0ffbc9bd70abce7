/**
 * Messages between a user, a model and its tools.
 *
 * An assistant message has every tool call together with its settlement, so no call of a transcript lacks a result. `settle` makes such a
 * message of a model's `Reply`, whose calls have no settlement yet. Codecs unfold the pair into the form of their wire.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { base64Of } from "./Base64.ts"
import * as Parts from "./parts.ts"
import * as Repair from "./messageRepair.ts"
import { FinishReason } from "./FinishReason.ts"
import * as Usage from "./Usage.ts"

export {
  Assistant,
  Message,
  Opaque,
  ProviderItem,
  SaidMessage,
  Settlement,
  ToolCall,
  Transcript,
  User,
  UserContent
} from "./parts.ts"
export type { Reasoning, SettledCall, System, Text, ToolSpec } from "./parts.ts"
export type { FinishReason } from "./FinishReason.ts"

/** A complete reply of a model. Its calls have no settlement yet. */
export interface Reply extends Schema.Schema.Type<typeof Reply> {}

export const Reply = Schema.Struct({
  content: Schema.Array(Schema.Union([Parts.Text, Parts.Reasoning, Parts.ProviderItem, Parts.ToolCall])),
  finish: FinishReason,
  usage: Usage.Usage,
  /** Set if `usage` is an estimate, because the provider reported a negative or infinite number, or no number. */
  isEstimated: Schema.optionalKey(Schema.Literal(true)),
  /** The part of `usage` that earlier sends of the request have used: they broke off, and the transport sent it again. */
  resent: Schema.optionalKey(Usage.Usage),
  /** The cost that the provider reports for this reply, in US dollars. */
  cost: Schema.optionalKey(Schema.Finite),
  /** The name of the model that answered, as the provider reports it. */
  model: Schema.optionalKey(Schema.String),
  /** The id of the reply in its body, as later requests and the support of the provider name it. */
  responseId: Schema.optionalKey(Schema.String),
  /** The id of the HTTP request in the head of the answer; errors have it under the same name. */
  requestId: Schema.optionalKey(Schema.String),
  /** Why the model stopped, in the word of the provider: `finish` is what the library makes of it. */
  rawFinish: Schema.optionalKey(Schema.String),
  /** The service tier that has served the request, in the word of the provider; it may differ from the requested one. */
  serviceTier: Schema.optionalKey(Schema.String)
})

/** A text part. */
export const text = (value: string): Parts.Text => ({ type: "text", text: value })

/** A system message. */
export const system = (value: string): Parts.System => ({ role: "system", text: value })

/** A user message of one or several parts. */
export const user = (value: string | Parts.UserContent): Parts.User => ({
  role: "user",
  content: Predicate.isString(value) ? [text(value)] : value
})

/** An image: bytes in base64, or its URL. A `data:` URL in base64 stands for its bytes, the id of a file for a file of the provider. */
export const image = (mediaType: string, from: Attached): Parts.Image => ({ type: "image", mediaType, ...bare(from) })

/**
 * A file: bytes in base64, or its URL. A `data:` URL in base64 stands for its bytes, the id of a file, such as `file-abc`, for a file that
 * the provider stores. Audio is a file of an audio type.
 */
export const file = (mediaType: string, from: Attached, name?: string): Parts.File => ({
  type: "file",
  mediaType,
  ...bare(from),
  ...(name === undefined ? {} : { name })
})

/** The bytes of an attachment, in base64, or their URL. */
type Attached = { readonly data: string } | { readonly url: string }

const bare = (from: Attached): Attached => {
  const data = base64Of(from)
  return data === undefined ? from : { data }
}

/** An assistant message without calls. */
export const assistant = (value: string): Parts.Assistant => ({ role: "assistant", content: [text(value)] })

/**
 * The `incomplete` message of a stopped reply: the text that a reader has seen. `undefined` if there is no text, because several providers
 * refuse blank messages.
 *
 * @internal
 */
export const incomplete = (shown: string): Parts.Assistant | undefined =>
  shown.trim() === "" ? undefined : { ...assistant(shown), incomplete: true }

/**
 * The conversation for readers and models: withheld messages have a placeholder instead of their text.
 *
 * @internal
 */
export const withoutWithheld = (transcript: Parts.Transcript): Parts.Transcript =>
  transcript.some(isWithheld)
    ? transcript.map((message) => (isWithheld(message) ? (message.role === "user" ? blankWords : blank) : message))
    : transcript

/**
 * Whether a guardrail has blocked this message.
 *
 * @internal
 */
// Mutant `true` for `message.role !== "system"` survives: by its type, a system message has no such field
export const isWithheld = (message: Parts.Message): boolean => message.role !== "system" && message.withheld === true

/**
 * The placeholder for a withheld user message.
 *
 * @internal
 */
export const blankWords: Parts.User = {
  role: "user",
  content: [{ type: "text", text: "This message was withheld." }],
  withheld: true
}

/**
 * The placeholder for a withheld answer.
 *
 * @internal
 */
export const blank: Parts.Assistant = {
  role: "assistant",
  content: [{ type: "text", text: "This answer was withheld." }],
  withheld: true
}

/** The texts of a message or a reply, joined. */
export const textOf = (self: { readonly content: ReadonlyArray<Parts.Text | { readonly type: string }> }): string => {
  let joined = ""
  for (const part of self.content) if (isText(part)) joined += part.text
  return joined
}

const isText = (part: Parts.Text | { readonly type: string }): part is Parts.Text => part.type === "text"

/** The calls of a reply, in the model's order. */
export const callsOf = (reply: Reply): ReadonlyArray<Parts.ToolCall> =>
  // most replies have only calls, or none
  reply.content.every(isCall) ? reply.content : reply.content.filter(isCall)

const isCall = (part: Reply["content"][number]): part is Parts.ToolCall => part.type === "tool-call"

/**
 * Makes a message of a reply and its settlements. The settlement of the n-th call is the n-th of `settlements`. A call without one gets a
 * settlement that says that it was not run.
 */
export const settle = (reply: Reply, settlements: ReadonlyArray<Parts.Settlement | undefined>): Parts.Assistant => {
  let next = 0
  const content = reply.content.map((part): Parts.Assistant["content"][number] =>
    part.type === "tool-call" ? { type: "settled-call", call: part, settlement: settlements[next++] ?? notRun } : part
  )
  return reply.finish === "paused" ? { role: "assistant", content, paused: true } : { role: "assistant", content }
}

/**
 * The settlement of a call that was not run, because its run ended before it.
 *
 * @internal
 */
export const notRun: Parts.Settlement = {
  kind: "interrupted",
  text: "The call was not run: the run stopped before it."
}

/** @internal */
export { interrupted } from "./messageRepair.ts"

/**
 * The settlement of a call that was still waiting for its approval when its run ended: it was not run.
 *
 * @internal
 */
export const unapproved: Parts.Settlement = {
  kind: "interrupted",
  text: "The call was not run: it was still waiting for approval."
}

/**
 * The settlement of a call that had not begun when a user message came in.
 *
 * @internal
 */
export const passedOver: Parts.Settlement = {
  kind: "interrupted",
  text: "The call was not run: a message of the user came before it."
}

/**
 * The settlement of a call whose request for approval a user message has withdrawn.
 *
 * @internal
 */
export const superseded: Parts.Settlement = {
  kind: "interrupted",
  text: "The call was not run: superseded by a message of the user."
}

/**
 * The settlement of a call that had begun when a user message superseded it.
 *
 * @internal
 */
export const supersededAtWork: Parts.Settlement = {
  kind: "interrupted",
  text: "The call was interrupted before it ended: superseded by a message of the user."
}

/**
 * The settlement of a call that was cut off after its start, and may have taken effect.
 *
 * @internal
 */
export const unknown: Parts.Settlement = {
  kind: "unknown",
  text: "The call was cut off after its start. It may have taken effect: look that up before any repetition."
}

/**
 * The settlement of a call that was not run, because its reply was cut off.
 *
 * @internal
 */
export const truncated: Parts.Settlement = {
  kind: "truncated",
  text: "The call was not run: the reply that contained it was cut off."
}

/** The result of a call as a separate message. */
type ForeignResult = {
  readonly role: "tool"
  readonly callId: string
  readonly text: string
  readonly isError?: boolean
  /** Texts, images and files, for a model whose wire carries them in a result. */
  readonly parts?: Parts.Settlement["parts"]
}

/** An assistant message whose calls may have no result. */
type ForeignAssistant = {
  readonly role: "assistant"
  readonly content: ReadonlyArray<
    Parts.Text | Parts.Reasoning | Parts.ProviderItem | Parts.ToolCall | Parts.SettledCall
  >
}

/** A message of a foreign history. Results of calls may be messages of their own, or missing. */
export type Foreign = Parts.System | Parts.User | ForeignAssistant | ForeignResult

/**
 * Reads a transcript from any foreign history. The history may be any JSON. Each result goes to its call. A call without a result gets a
 * settlement of the kind `interrupted`; a result without a call is dropped. Readable deviations are mended: a text instead of parts, an id
 * that is a number, missing arguments. Messages of unknown roles, calls without a name and parts of unknown types are dropped. Never
 * throws; a transcript of this library is unchanged.
 */
export const repair: (history: unknown) => Parts.Transcript = Repair.repair

/** Whether the model reads this settlement as an error. Every kind but `result` and `deferred` is one. */
export const isError = ({ kind }: Parts.Settlement): boolean => kind !== "result" && kind !== "deferred"
