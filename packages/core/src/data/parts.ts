/** What messages are made of, as schemas. */
import * as Schema from "effect/Schema"

/** Plain text. */
export interface Text extends Schema.Schema.Type<typeof Text> {}

export const Text = Schema.Struct({ type: Schema.tag("text"), text: Schema.String })

/**
 * Data that only the provider that wrote it can read (a thinking signature, say) and that it wants back unchanged.
 * Every other provider leaves it out.
 */
export interface Opaque extends Schema.Schema.Type<typeof Opaque> {}

export const Opaque = Schema.Struct({ provider: Schema.String, data: Schema.Json })

/** The reasoning of a model before its answer. */
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
 * Work of a provider on its own side, a search for example, or an addition to the reply, like its sources. Only
 * that provider can read it, and may need it back; others leave it out. `kind` is the provider's name for it.
 */
export interface ProviderItem extends Schema.Schema.Type<typeof ProviderItem> {}

export const ProviderItem = Schema.Struct({ type: Schema.tag("provider-item"), kind: Schema.String, opaque: Opaque })

/** How a call ended. Only `result` is a success; the model reads every other kind with the wire's error flag. */
export type SettlementKind = typeof SettlementKind.Type

export const SettlementKind = Schema.Literals(["result", "told", "denied", "interrupted", "truncated", "unknown"])

/** The one answer to a call: the text that the model reads, and how it came about. */
export interface Settlement extends Schema.Schema.Type<typeof Settlement> {}

export const Settlement = Schema.Struct({ kind: SettlementKind, text: Schema.String })

/** A call with its answer. */
export interface SettledCall extends Schema.Schema.Type<typeof SettledCall> {}

export const SettledCall = Schema.Struct({ type: Schema.tag("settled-call"), call: ToolCall, settlement: Settlement })

/** Instructions to the model. */
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

/** What a user says. */
export interface User extends Schema.Schema.Type<typeof User> {}

export const User = Schema.Struct({ role: Schema.tag("user"), content: UserContent })

/** What a model said, in its own order, every call settled. One that is `paused` is no answer: its provider goes on with it. */
export interface Assistant extends Schema.Schema.Type<typeof Assistant> {}

export const Assistant = Schema.Struct({
  role: Schema.tag("assistant"),
  content: Schema.Array(Schema.Union([Text, Reasoning, ProviderItem, SettledCall])),
  paused: Schema.optionalKey(Schema.Literal(true))
})

/** One message of a conversation, with its calls settled. */
export type Message = System | User | Assistant

export const Message = Schema.Union([System, User, Assistant])

/** The whole conversation, oldest first. */
export type Transcript = ReadonlyArray<Message>

export const Transcript = Schema.Array(Message)
