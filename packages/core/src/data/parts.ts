/** Messages and their parts, as schemas. */
import * as Schema from "effect/Schema"

/**
 * Plain text.
 *
 * @hidden
 */
export interface Text extends Schema.Schema.Type<typeof Text> {}

/** @hidden */
export const Text = Schema.Struct({ type: Schema.tag("text"), text: Schema.String })

/**
 * Data of one provider, such as a signature of reasoning. The codec of this provider sends the data back unchanged; other codecs leave it
 * out.
 */
export interface Opaque extends Schema.Schema.Type<typeof Opaque> {}

export const Opaque = Schema.Struct({
  provider: Schema.String,
  data: Schema.Json,
  /** For thoughts: the family of their model. Models of other families do not get them. */
  family: Schema.optionalKey(Schema.String),
  /** For thoughts: a digest of the conversation before them. If that has changed, the thoughts are left out. */
  before: Schema.optionalKey(Schema.String)
})

/**
 * A part of a model's reasoning.
 *
 * @hidden
 */
export interface Reasoning extends Schema.Schema.Type<typeof Reasoning> {}

/** @hidden */
export const Reasoning = Schema.Struct({
  type: Schema.tag("reasoning"),
  text: Schema.String,
  opaque: Schema.optionalKey(Opaque)
})

/**
 * One tool call, as the model sent it. `arguments` is the text of the model, or an object if the provider sends one; absent arguments are
 * `null`.
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
 * A provider's own work, such as a search or its sources. `kind` is the provider's name for it. The codec of this provider sends the item
 * back; other codecs leave it out.
 */
export interface ProviderItem extends Schema.Schema.Type<typeof ProviderItem> {}

export const ProviderItem = Schema.Struct({ type: Schema.tag("provider-item"), kind: Schema.String, opaque: Opaque })

/** An attachment has its bytes in base64, or their URL. */
const attached = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Union([Schema.Struct({ ...fields, data: Schema.String }), Schema.Struct({ ...fields, url: Schema.String })])

/** An image of a user, or of a tool, in base64 (`data`) or at a URL. */
export type Image = typeof Image.Type

export const Image = attached({ type: Schema.tag("image"), mediaType: Schema.String })

/** A document of a user, or of a tool, in base64 (`data`) or at a URL. */
export type File = typeof File.Type

export const File = attached({
  type: Schema.tag("file"),
  mediaType: Schema.String,
  name: Schema.optionalKey(Schema.String)
})

/** An attachment of a result without its bytes, as events have it. */
const Withheld = Schema.Struct({
  type: Schema.Literals(["image", "file"]),
  mediaType: Schema.String,
  name: Schema.optionalKey(Schema.String),
  /** How many bytes it has. */
  bytes: Schema.Finite
})

/** The recorded result of a tool call, as the model reads it. It says how the call ended, and has the text. */
export interface Settlement extends Schema.Schema.Type<typeof Settlement> {}

export const Settlement = Schema.Struct({
  /**
   * How the call ended. `result` is a success. `deferred` means that the result comes in a later message. Every other kind is an error,
   * flagged on the wire.
   */
  kind: Schema.Literals(["result", "told", "denied", "interrupted", "truncated", "unknown", "deferred"]),
  /** The text that the model reads. With `parts`: their texts, and a description of each image and file. */
  text: Schema.String,
  /** The result as texts, images and files, for models that read them in results; absent if it is only a text. Events have no bytes. */
  parts: Schema.optionalKey(Schema.Array(Schema.Union([Text, Image, File, Withheld]))),
  /**
   * For models that read no images and files in results: a user message with them follows (`follow`), or the model call fails (`refuse`).
   * By default such models read `text`.
   */
  unsupported: Schema.optionalKey(Schema.Literals(["follow", "refuse"]))
})

/**
 * A tool call with its settlement.
 *
 * @hidden
 */
export interface SettledCall extends Schema.Schema.Type<typeof SettledCall> {}

/** @hidden */
export const SettledCall = Schema.Struct({ type: Schema.tag("settled-call"), call: ToolCall, settlement: Settlement })

/**
 * A system message: instructions to the model.
 *
 * @hidden
 */
export interface System extends Schema.Schema.Type<typeof System> {}

/** @hidden */
export const System = Schema.Struct({ role: Schema.tag("system"), text: Schema.String })

/** The content of a user message: texts, images and files. An agent with this schema as its `input` takes such parts. */
export type UserContent = typeof UserContent.Type

export const UserContent = Schema.Array(Schema.Union([Text, Image, File]))

/** The deferred call whose late result this user message has. `unsupported` comes from the settlement. */
const LateResult = Schema.Struct({
  callId: Schema.String,
  tool: Schema.String,
  unsupported: Schema.optionalKey(Schema.Literals(["follow", "refuse"]))
})

/** A user message. A guardrail has blocked a `withheld` message: no model reads it. */
export interface User extends Schema.Schema.Type<typeof User> {}

export const User = Schema.Struct({
  role: Schema.tag("user"),
  content: UserContent,
  /** Set by the run where the message has images and files of the late result of a deferred call. */
  lateResult: Schema.optionalKey(LateResult),
  withheld: Schema.optionalKey(Schema.Literal(true))
})

/** A user message to a running agent, see `run.say`. The id tells it apart from other messages with the same words. */
export interface SaidMessage extends Schema.Schema.Type<typeof SaidMessage> {}

export const SaidMessage = Schema.Struct({
  id: Schema.String,
  message: User,
  /** Whether it withdraws the requests that the run waits for. */
  supersede: Schema.optionalKey(Schema.Literal(true))
})

/**
 * A model's message: its parts, each tool call with its settlement. A `paused` message is no answer: the provider continues it in the next
 * reply. An `incomplete` message is no answer either: it has the text that a reader had seen when the model call was stopped, and no calls.
 * A guardrail has blocked a `withheld` message: no reader has seen it, and no model reads it.
 */
export interface Assistant extends Schema.Schema.Type<typeof Assistant> {}

export const Assistant = Schema.Struct({
  role: Schema.tag("assistant"),
  content: Schema.Array(Schema.Union([Text, Reasoning, ProviderItem, SettledCall])),
  paused: Schema.optionalKey(Schema.Literal(true)),
  incomplete: Schema.optionalKey(Schema.Literal(true)),
  withheld: Schema.optionalKey(Schema.Literal(true))
})

/** One message of a conversation. */
export type Message = System | User | Assistant

export const Message = Schema.Union([System, User, Assistant])

/** A whole conversation, oldest message first. */
export type Transcript = ReadonlyArray<Message>

export const Transcript = Schema.Array(Message)

/**
 * The description of a tool for a model. `parameters` is a JSON Schema.
 *
 * @hidden
 */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: Schema.JsonObject
  /** Set if `null` does not mean that an optional parameter is absent. Then no codec asks the model to write `null` for it. */
  readonly keepsNulls?: true
}
