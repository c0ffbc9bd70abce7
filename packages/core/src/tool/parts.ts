/** `Tool.parts`: results with images and files beside texts. Only this combinator brings this file into a program. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { base64Of, bytesIn, inWords, notShown } from "../data/Base64.ts"
import { property } from "../data/Foreign.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import { CapabilityMismatchError, type LlmError } from "../errors/LlmError.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { type AnyTool, fromDefinition, isTool, type Tool } from "./shape.ts"
import type { ResultParts, ToolDefinition } from "./ToolDefinition.ts"

/** Options of `Tool.parts`. */
interface PartsOptions {
  /**
   * What to do for a model whose API takes no images or files in a result. `describe`, the default: the model reads the type and the size
   * of the part, and the run emits `parts-described`. `follow`: a user message with the images and files comes after the results. `refuse`:
   * the model call fails with `CapabilityMismatchError`.
   */
  readonly unsupported?: "describe" | "follow" | "refuse"
  /** The most bytes of images and files in one result; 3 MiB by default. The model reads a description of those beyond that. */
  readonly maxBytes?: number
}

/**
 * Shows a model a result as texts, images and files. They take the place of the JSON of the result, in their order. Bytes are in base64,
 * also after the beginning of a `data:` URL. The transcript, errors with a transcript, and snapshots have them; events and spans do not.
 *
 * Anthropic, OpenAI's Responses, Gemini from version 3, and Claude and Nova on Bedrock carry images and PDF files in results, and Kimi, Grok and
 * GLM-V images. Other models read a description; see `unsupported`. Throws a `RangeError` for `maxBytes` below 1, and a `TypeError` for other options of a wrong kind. A function that returns
 * something else is a defect.
 *
 * @example
 * ```ts
 * import { Message, Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const shot = Tool.make("shot", {
 *   description: "Takes a picture of the screen.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.Struct({ title: Schema.String, png: Schema.String }),
 *   run: () => Effect.succeed({ title: "Shop", png: "iVBORw0KGgo=" })
 * }).pipe(Tool.parts(({ png, title }) => [Message.text(title), Message.image("image/png", { data: png })]))
 * shot.name // => "shot"
 * ```
 */
export const parts: {
  <A>(
    of: (value: A) => Message.UserContent,
    options?: PartsOptions
  ): <Name extends string, Params, E, R, T, S>(self: Tool<Name, Params, A, E, R, T, S>) => typeof self
  <Name extends string, Params, A, E, R, T, S>(
    self: Tool<Name, Params, A, E, R, T, S>,
    of: (value: A) => Message.UserContent,
    options?: PartsOptions
  ): Tool<Name, Params, A, E, R, T, S>
} = dual(
  ([self]) => isTool(self),
  <T>({ definition }: AnyTool, of: (value: never) => Message.UserContent, options: PartsOptions = {}): T => {
    const { maxBytes = 3 * 1024 * 1024, unsupported = "describe" } = options
    if (!Predicate.isFunction(of)) {
      throw new TypeError(`Tool '${definition.name}': Tool.parts takes a function from its result to parts`)
    }
    if (!ways.has(unsupported)) {
      const got = JSON.stringify(unsupported)
      throw new TypeError(`Tool '${definition.name}': unsupported must be one of ${[...ways].join(", ")}, got ${got}`)
    }
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
      throw new RangeError(
        `Tool '${definition.name}': maxBytes must be a whole number of at least 1, got ${String(maxBytes)}`
      )
    }
    // the cast is safe: `of` gets only results of this tool
    const partsOf = (value: unknown) => within(checked(of(value as never), definition.name), maxBytes)
    return fromDefinition({
      ...definition,
      encode: encoding(definition, partsOf),
      parts: resultParts(partsOf, unsupported)
    })
  }
)

const ways: ReadonlySet<unknown> = new Set(["describe", "follow", "refuse"])

/** Checks what the user's function has returned. Its type promises parts, but JavaScript and casts can break the promise. */
const checked = (content: Message.UserContent, tool: string): Message.UserContent => {
  const whose = "The function of Tool.parts for tool"
  if (!Array.isArray(content)) throw Returned.wrong(content, "a list of texts, images and files", whose, tool)
  const wrong = content.findIndex((part) => !isPart(part))
  if (wrong < 0) return content
  throw new TypeError(`${whose} '${tool}' returned a list whose item ${wrong} is no text, image or file`)
}

const isPart = (part: unknown): boolean => {
  const [type, text, mediaType, data, url] = ["type", "text", "mediaType", "data", "url"].map((key) =>
    property(part, key)
  )
  if (type === "text") return Predicate.isString(text)
  const isHere = Predicate.isString(mediaType) && (Predicate.isString(data) || Predicate.isString(url))
  return isHere && (type === "image" || type === "file")
}

type Part = NonNullable<Message.Settlement["parts"]>[number]
type Attachment = Exclude<Part, Message.Text>
type Shown = Extract<Attachment, { readonly data: string } | { readonly url: string }>

/** Encodes a result as the text of its parts. The schema of the tool still has to admit the result. */
const encoding =
  ({ encode }: ToolDefinition, partsOf: (value: unknown) => ReadonlyArray<Part>): ToolDefinition["encode"] =>
  (value) => {
    const encoded = encode(value)
    if (Exit.isFailure(encoded)) return encoded
    try {
      return Exit.succeed(textOf(partsOf(value), notShown))
    } catch (error) {
      return Exit.failCause(Cause.die(error))
    }
  }

const resultParts = (
  partsOf: (value: unknown) => ReadonlyArray<Part>,
  unsupported: "describe" | "follow" | "refuse"
): ResultParts => ({
  of: (value, maxChars) => {
    const all = partsOf(value)
    return all.some(isAttachment)
      ? { parts: cut(all, maxChars), ...(unsupported === "describe" ? {} : { unsupported }) }
      : undefined
  },
  late: (call, { unsupported, ...settlement }, textOf) => {
    const attached = (settlement.parts ?? []).filter((part): part is Shown => isAttachment(part) && isShown(part))
    if (attached.length === 0) return undefined
    const placed = (text: string, part: Shown) => text.replace(said(part, notShown), () => said(part, "below"))
    const text = textOf({ ...settlement, text: attached.reduce(placed, settlement.text) })
    const lateResult = { ...call, ...(unsupported === undefined ? {} : { unsupported }) }
    return { ...Message.user([Message.text(text), ...attached]), lateResult }
  },
  adapt
})

const isAttachment = (part: Part): part is Attachment => part.type !== "text"

const isShown = (part: Part): part is Shown => isAttachment(part) && !("bytes" in part)

/** Removes the bytes of images and files beyond the limit. */
const within = (content: Message.UserContent, maxBytes: number): ReadonlyArray<Part> => {
  let left = maxBytes
  return content.map((part): Part => {
    const data = base64Of(part)
    // Mutant `""` survives: a text has no bytes
    if (part.type === "text" || data === undefined) return part
    const bytes = bytesIn(data)
    if (bytes > left) return withheld(part, bytes)
    left -= bytes
    if ("data" in part && part.data === data) return part
    const name = "name" in part ? part.name : undefined
    return part.type === "image"
      ? Message.image(part.mediaType, { data })
      : Message.file(part.mediaType, { data }, name)
  })
}

const withheld = ({ mediaType, type, ...part }: Shown, bytes: number): Attachment => ({
  type,
  mediaType,
  ...("name" in part && part.name !== undefined ? { name: part.name } : {}),
  bytes
})

/** Cuts the texts to as many characters as a result of the tool may have. */
const cut = (all: ReadonlyArray<Part>, maxChars = Infinity): ReadonlyArray<Part> => {
  let left = maxChars
  return all.map((part) => {
    if (part.type !== "text") return part
    const text = part.text.slice(0, Math.max(0, left))
    left -= part.text.length
    return text.length === part.text.length ? part : Message.text(text)
  })
}

const follows = "in the next message"

const textOf = (all: ReadonlyArray<Part>, where: string): string => all.map((part) => said(part, where)).join("\n")

const said = (part: Part, where: string): string => {
  if (part.type === "text") return part.text
  if ("url" in part) return inWords(part, `at ${part.url}`)
  return "bytes" in part
    ? inWords(part, `${part.bytes} bytes`, "too large")
    : inWords(part, `${bytesIn(part.data)} bytes`, where)
}

/** The messages of requests as each model can read them. They are cached, so that a codec encodes each message only once. */
const adapted = new WeakMap<Model.Service, WeakMap<Message.Message, ReadonlyArray<Message.Message>>>()

/** The results for which a run has emitted `parts-described`. */
const emitted = new WeakMap<object, WeakSet<object>>()

/** A result with parts: in a reply, or as a message of its own. */
interface Result {
  readonly of: object
  readonly callId: string
  readonly tool: string
  readonly parts: ReadonlyArray<Part>
  readonly unsupported?: "follow" | "refuse" | undefined
}

const resultsIn = (message: Message.Message): ReadonlyArray<Result> => {
  if (message.role === "user")
    return message.lateResult === undefined ? [] : [{ ...message.lateResult, of: message, parts: message.content }]
  if (message.role === "system") return []
  return message.content.flatMap((part): ReadonlyArray<Result> => {
    if (part.type !== "settled-call") return []
    const { call, settlement } = part
    const { parts, unsupported } = settlement
    return parts === undefined ? [] : [{ of: settlement, callId: call.id, tool: call.name, parts, unsupported }]
  })
}

const adapt: ResultParts["adapt"] = (run, model, request, next) => {
  const takes = (part: Part) => isShown(part) && model.showsInResults?.(part) === true
  const isForeign = (part: Part) => isAttachment(part) && !takes(part)
  const foreign = request.messages.flatMap(resultsIn).filter(({ parts }) => parts.some(isForeign))
  // Mutant `false` survives: speed only. Without such parts no message changes
  if (foreign.length === 0) return undefined
  const refused = foreign.find(({ unsupported }) => unsupported === "refuse")
  if (refused !== undefined) return Effect.fail(refusal(model, refused, isForeign))
  const messages = request.messages.flatMap((message) =>
    message.role === "system" ? message : readable(model, message, isForeign)
  )
  const described = foreign.filter(({ of, unsupported }) => unsupported === undefined && isNew(run, of))
  const telling = Effect.forEach(
    described,
    ({ callId, parts, tool }) =>
      RunContext.emit(run, () => ({
        type: "parts-described",
        callId,
        tool,
        model: model.name,
        parts: parts.flatMap((part) =>
          part.type !== "text" && isForeign(part) ? { type: part.type, mediaType: part.mediaType } : []
        )
      })),
    { discard: true }
  )
  return Effect.andThen(
    telling,
    Effect.suspend(() => next({ ...request, messages }))
  )
}

const isNew = ({ done }: RunContext.RunContext, result: object): boolean => {
  const seen = emitted.get(done) ?? new WeakSet()
  emitted.set(done, seen)
  if (seen.has(result)) return false
  seen.add(result)
  return true
}

const refusal = (
  { name, provider }: Model.Service,
  { parts, tool }: Result,
  isForeign: (part: Part) => boolean
): LlmError => {
  const part = parts.find(isForeign)
  const capability = part?.type === "file" ? "files" : "vision"
  return CapabilityMismatchError.make({
    model: name,
    provider,
    capability,
    detail: `the result of tool '${tool}' has such a part`
  })
}

/** The message in a form that the model can read, and the user message with images and files that follows it, if there is one. */
const readable = (
  model: Model.Service,
  message: Message.Assistant | Message.User,
  isForeign: (part: Part) => boolean
): ReadonlyArray<Message.Message> => {
  const seen = adapted.get(model) ?? new WeakMap<Message.Message, ReadonlyArray<Message.Message>>()
  adapted.set(model, seen)
  const before = seen.get(message)
  // Mutant `false` survives: speed only. The messages are made once more
  if (before !== undefined) return before
  const messages = message.role === "user" ? [readableLate(message, isForeign)] : readableReply(message, isForeign)
  seen.set(message, messages)
  return messages
}

/** Adapts the message of a late result. With `follow` it stays as it is, because a user message may carry images and files. */
const readableLate = (message: Message.User, isForeign: (part: Part) => boolean): Message.User => {
  const { content, lateResult } = message
  if (lateResult === undefined || lateResult.unsupported === "follow" || !content.some(isForeign)) return message
  return { ...message, content: content.map((one) => (isForeign(one) ? Message.text(said(one, notShown)) : one)) }
}

const readableReply = (
  message: Message.Assistant,
  isForeign: (part: Part) => boolean
): ReadonlyArray<Message.Message> => {
  const following: Array<Message.UserContent[number]> = []
  const content = message.content.map((part) => {
    if (part.type !== "settled-call" || part.settlement.parts?.some(isForeign) !== true) return part
    const { call, settlement } = part
    const { kind, parts: all = [], text, unsupported } = settlement
    const isFollowed = unsupported === "follow"
    const where = isFollowed ? follows : notShown
    const left = all.map((one) => (isForeign(one) ? Message.text(said(one, where)) : one))
    if (isFollowed) {
      const shown = all.filter((one): one is Shown => isForeign(one) && isShown(one))
      if (shown.length > 0) following.push(Message.text(`From the result of tool '${call.name}':`), ...shown)
    }
    const isText = !left.some(isAttachment)
    const read = isText ? { kind, text: isFollowed ? textOf(all, where) : text } : { kind, text, parts: left }
    return { ...part, settlement: read }
  })
  // Mutants `false`, `undefined` survive: speed only. A copy of the message is made
  if (content.every((part, index) => part === message.content[index])) return [message]
  return following.length === 0 ? [{ ...message, content }] : [{ ...message, content }, Message.user(following)]
}
