/**
 * What is said between a user, a model and its tools.
 *
 * A transcript cannot hold an orphan: an assistant message keeps every tool call together with its settlement, and
 * `settle` is the only step from a model's `Reply` (whose calls are open) to a message. Codecs unfold the pair into
 * whatever their wire wants.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { kept } from "./internal/kept.ts"
import * as Usage from "./Usage.ts"

/** Plain text. */
export interface Text extends Schema.Schema.Type<typeof Text> {}

export const Text = Schema.Struct({ type: Schema.tag("text"), text: Schema.String })

/**
 * Data that only the provider that wrote it can read (a thinking signature, say) and that it wants back unchanged.
 * Every other provider leaves it out.
 */
export interface Opaque extends Schema.Schema.Type<typeof Opaque> {}

export const Opaque = Schema.Struct({ provider: Schema.String, data: Schema.Json })

/** What a model thought aloud before it answered. */
export interface Reasoning extends Schema.Schema.Type<typeof Reasoning> {}

export const Reasoning = Schema.Struct({
  type: Schema.tag("reasoning"),
  text: Schema.String,
  opaque: Schema.optionalKey(Opaque)
})

/**
 * One tool call as the model sent it. `arguments` is the model's own text, or the object of providers that send one;
 * absent arguments are `null`.
 */
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}

export const ToolCall = Schema.Struct({
  type: Schema.tag("tool-call"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Json,
  opaque: Schema.optionalKey(Opaque)
})

/**
 * Something that a provider did on its own side, a search for example, or said beside the reply, like its sources: only
 * that provider can read it, and it may want it back. Every other one leaves it out. `kind` is the provider's word for it.
 */
export interface ProviderItem extends Schema.Schema.Type<typeof ProviderItem> {}

export const ProviderItem = Schema.Struct({ type: Schema.tag("provider-item"), kind: Schema.String, opaque: Opaque })

/** How a call ended. Only `result` is a success; whatever else the model reads carries the wire's error flag. */
export type SettlementKind = typeof SettlementKind.Type

export const SettlementKind = Schema.Literals(["result", "told", "denied", "interrupted", "truncated", "unknown"])

/** The one answer to a call: the text that the model reads, and how it came about. */
export interface Settlement extends Schema.Schema.Type<typeof Settlement> {}

export const Settlement = Schema.Struct({ kind: SettlementKind, text: Schema.String })

/** A call with its answer. */
export interface SettledCall extends Schema.Schema.Type<typeof SettledCall> {}

export const SettledCall = Schema.Struct({ type: Schema.tag("settled-call"), call: ToolCall, settlement: Settlement })

export interface System extends Schema.Schema.Type<typeof System> {}

export const System = Schema.Struct({ role: Schema.tag("system"), text: Schema.String })

/** What an attachment holds: its bytes in base64, or where they are. */
const attached = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Union([Schema.Struct({ ...fields, data: Schema.String }), Schema.Struct({ ...fields, url: Schema.String })])

/** A picture that a user shows: `data` is base64. */
export type Image = typeof Image.Type

export const Image = attached({ type: Schema.tag("image"), mediaType: Schema.String })

/** A document that a user hands over: `data` is base64. */
export type File = typeof File.Type

export const File = attached({
  type: Schema.tag("file"),
  mediaType: Schema.String,
  name: Schema.optionalKey(Schema.String)
})

/** What a user says: texts, images and files in the user's order. As `input` of an agent, that agent takes such parts. */
export type UserContent = typeof UserContent.Type

export const UserContent = Schema.Array(Schema.Union([Text, Image, File]))

export interface User extends Schema.Schema.Type<typeof User> {}

export const User = Schema.Struct({ role: Schema.tag("user"), content: UserContent })

/** What a model said, in its own order, every call settled. One that is `paused` is no answer: its provider goes on with it. */
export interface Assistant extends Schema.Schema.Type<typeof Assistant> {}

export const Assistant = Schema.Struct({
  role: Schema.tag("assistant"),
  content: Schema.Array(Schema.Union([Text, Reasoning, ProviderItem, SettledCall])),
  paused: Schema.optionalKey(Schema.Literal(true))
})

export type Message = System | User | Assistant

export const Message = Schema.Union([System, User, Assistant])

/** The whole conversation, oldest first. */
export type Transcript = ReadonlyArray<Message>

export const Transcript = Schema.Array(Message)

/**
 * A transcript that an error takes along. It is checked when it comes from outside, but not message by message whenever
 * such an error is made: what a run has written down itself needs no check, and may be long.
 */
export const KeptTranscript = kept(Transcript)

/**
 * Why a model stopped. `filtered` and `length` cut a reply off: its calls are not run. `paused` is no end: the provider is at
 * work on its own side, and goes on when it gets the reply back.
 */
export type FinishReason = typeof FinishReason.Type

export const FinishReason = Schema.Literals(["stop", "tool-calls", "length", "filtered", "paused", "other"])

/** What a model sent back in one piece, its calls still open. */
export interface Reply extends Schema.Schema.Type<typeof Reply> {}

export const Reply = Schema.Struct({
  content: Schema.Array(Schema.Union([Text, Reasoning, ProviderItem, ToolCall])),
  finish: FinishReason,
  usage: Usage.Usage,
  /** What the provider says that this reply cost, where it says so, in its own currency. */
  cost: Schema.optionalKey(Schema.Finite),
  /** The name under which the provider answered, where it says one. */
  model: Schema.optionalKey(Schema.String)
})

/** A tool as a model sees it. `parameters` is a JSON Schema. */
export interface ToolSpec extends Schema.Schema.Type<typeof ToolSpec> {}

export const ToolSpec = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  parameters: Schema.Record(Schema.String, Schema.Json),
  /** Set where `null` is not read as the absence of an optional parameter, so that no model may be made to write it. */
  keepsNulls: Schema.optionalKey(Schema.Literal(true))
})

export const text = (value: string): Text => ({ type: "text", text: value })

export const system = (value: string): System => ({ role: "system", text: value })

export const user = (value: string | UserContent): User => ({
  role: "user",
  content: Predicate.isString(value) ? [text(value)] : value
})

/** An image, of bytes in base64 or at an address. */
export const image = (mediaType: string, from: Attached): Image => ({ type: "image", mediaType, ...from })

/** A file, of bytes in base64 or at an address. */
export const file = (mediaType: string, from: Attached, name?: string): File => ({
  type: "file",
  mediaType,
  ...from,
  ...(name === undefined ? {} : { name })
})

export type Attached = { readonly data: string } | { readonly url: string }

/** An assistant message without calls. */
export const assistant = (value: string): Assistant => ({ role: "assistant", content: [text(value)] })

/** The texts of a message or a reply, joined. */
export const textOf = (self: { readonly content: ReadonlyArray<Text | { readonly type: string }> }): string => {
  let joined = ""
  for (const part of self.content) if (isText(part)) joined += part.text
  return joined
}

const isText = (part: Text | { readonly type: string }): part is Text => part.type === "text"

/** The open calls of a reply, in the model's order. */
export const callsOf = (reply: Reply): ReadonlyArray<ToolCall> =>
  reply.content.filter((part) => part.type === "tool-call")

/**
 * Closes a reply: the settlement of its n-th call is the n-th of `settlements`. A call without one was not run, and is settled
 * as that, so no reply, however it ended, leaves an orphan behind.
 */
export const settle = (reply: Reply, settlements: ReadonlyArray<Settlement | undefined>): Assistant => {
  let next = 0
  return {
    role: "assistant",
    content: reply.content.map((part) =>
      part.type === "tool-call" ? { type: "settled-call", call: part, settlement: settlements[next++] ?? notRun } : part
    ),
    ...(reply.finish === "paused" ? { paused: true } : {})
  }
}

/** The settlement of a call whose turn never came: its run stopped before it. */
export const notRun: Settlement = { kind: "interrupted", text: "The call was not run: the run stopped before it." }

/** The settlement of a call that was at work when its run ended. */
export const interrupted: Settlement = { kind: "interrupted", text: "The call was interrupted before it ended." }

/** The settlement of a call that was still waiting for its approval when its run ended: it was not run. */
export const unapproved: Settlement = {
  kind: "interrupted",
  text: "The call was not run: it was still waiting for approval."
}

/** The settlement of a call that was cut off after its start, and may have taken effect. */
export const unknown: Settlement = {
  kind: "unknown",
  text: "The call was cut off after its start. It may have taken effect: look that up before any repetition."
}

/** The settlement of a call in a reply that was cut off before its end: it was not run. */
export const truncated: Settlement = {
  kind: "truncated",
  text: "The call was not run: the reply that contained it was cut off."
}

/** The result of a call, as it stands by itself in histories of foreign origin. */
export interface ForeignResult {
  readonly role: "tool"
  readonly callId: string
  readonly text: string
  readonly isError?: boolean
}

/** What a model said, as foreign histories keep it: its calls may be open. */
export interface ForeignAssistant {
  readonly role: "assistant"
  readonly content: ReadonlyArray<Text | Reasoning | ProviderItem | ToolCall | SettledCall>
}

/** A message of foreign origin: one of ours, or one of the two that may leave a call without its result. */
export type Foreign = System | User | ForeignAssistant | ForeignResult

/**
 * A transcript out of a history of foreign origin: every result goes to its call, calls without one are settled as
 * interrupted, results without a call are dropped, and everything else stays as it is. Total; a transcript of ours comes
 * out as it went in.
 */
export const repair = (history: ReadonlyArray<Foreign>): Transcript => {
  const settlements = matched(history)
  return history.flatMap((message): ReadonlyArray<Message> => {
    if (message.role === "tool") return []
    if (message.role !== "assistant") return [message]
    const content = message.content.map((part) =>
      part.type === "tool-call"
        ? ({ type: "settled-call", call: part, settlement: settlements.get(part) ?? interrupted } as const)
        : part
    )
    return [{ role: "assistant", content }]
  })
}

/** A result belongs to the nearest message before it with a call of that id, there to the first that is still open. */
const matched = (history: ReadonlyArray<Foreign>): ReadonlyMap<ToolCall, Settlement> => {
  const open = new Map<string, Array<ToolCall>>()
  const settlements = new Map<ToolCall, Settlement>()
  for (const message of history) {
    if (message.role === "assistant") {
      const calls = message.content.filter((part) => part.type === "tool-call")
      // ids repeat over turns: what is open from before stays without a result
      for (const { id } of calls) open.set(id, [])
      for (const call of calls) open.get(call.id)?.push(call)
    } else if (message.role === "tool") {
      const call = open.get(message.callId)?.shift()
      if (call === undefined) continue
      settlements.set(call, { kind: message.isError === true ? "told" : "result", text: message.text })
    }
  }
  return settlements
}

/** Whether the model is to read this settlement as an error. */
export const isError = (self: Settlement): boolean => self.kind !== "result"
