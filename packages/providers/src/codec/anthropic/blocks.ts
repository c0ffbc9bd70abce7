/** Encodes one message as content blocks. Each block is already JSON text, except for the ids of calls. */
import * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { cited } from "./reply.ts"
import { type Attachment, givenBy } from "../Attached.ts"
import * as Json from "../../transport/Json.ts"
import { isPdf, isPlainImage, isTextFile, shownParts, type Takes } from "../resultParts.ts"

export interface Block {
  /** The JSON text of the whole block, or of the part before the id of a call. */
  readonly text: string
  /** Set for a call and for its result: the position of the call in the message, and the JSON text behind its id. */
  readonly call?: { readonly at: number; readonly rest: string }
  readonly isThinking: boolean
  /** Whether the block is a call of the provider's own tool without a result in this message. */
  readonly isUnfinished: boolean
}

/** The encoded blocks of a message of the user or the assistant. */
export interface Blocks {
  readonly role: "user" | "assistant"
  readonly blocks: ReadonlyArray<Block>
  /** The results of the message's calls, for the next turn of the user. */
  readonly results: ReadonlyArray<Block>
  /** The ids of the message's calls, in their order. */
  readonly ids: ReadonlyArray<string>
  readonly isPaused: boolean
}

const plain = (json: Schema.Json): Block => ({ text: JSON.stringify(json), isThinking: false, isUnfinished: false })

/** Makes the block of a call or of its result. `fields` is the JSON text of the fields behind the id. */
const ofCall = (type: string, key: string, at: number, fields: string): Block => ({
  text: `{"type":"${type}","${key}":`,
  call: { at, rest: `,${fields}}` },
  isThinking: false,
  // Mutant `true` survives: only messages without calls look for unfinished blocks, so no code reads `isUnfinished` of the
  // block of a call
  isUnfinished: false
})

/** Whether a text is blank. The provider refuses blank texts, so they are left out. */
const isBlank = (text: string): boolean => text.trim() === ""

export const ofUser = ({ content }: Message.User): Blocks => ({
  role: "user",
  blocks: content.flatMap((part) => (part.type === "text" && isBlank(part.text) ? [] : [plain(partOf(part))])),
  results: [],
  // Mutant `["Stryker was here"]` survives: a user's message has no calls. One id too many is taken, which changes
  // another id only where a model wrote these words as an id
  ids: [],
  // Mutant `true` survives: it decides only whether unfinished blocks and thoughts at the end stay, and a user's
  // message has neither
  isPaused: false
})

const partOf = (part: Message.UserContent[number]): Schema.Json => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text }
    case "image":
      return { type: "image", source: attached(part) }
    case "file": {
      const given = givenBy(part)
      if (given.way === "id" && part.mediaType !== pdf && part.mediaType !== "text/plain") {
        return { type: "container_upload", file_id: given.id }
      }
      const source =
        given.way === "data" && part.mediaType !== pdf
          ? { type: "text", media_type: "text/plain", data: Result.getOrElse(decoded(given.data), () => given.data) }
          : attached(part)
      // Mutant `false` survives: `JSON.stringify` leaves out a title that is undefined
      return { type: "document", source, ...(part.name === undefined ? {} : { title: part.name }) }
    }
  }
}

/**
 * The source of an image or a document. Only images, PDF and plain text can be given by the id of a stored file; other stored files are
 * uploads to the container of a tool (platform.claude.com, "Files API", looked up on 2026-11-26).
 */
const attached = (part: Attachment): Schema.Json => {
  const given = givenBy(part)
  if (given.way === "id") return { type: "file", file_id: given.id }
  return given.way === "data"
    ? { type: "base64", media_type: part.mediaType, data: given.data }
    : { type: "url", url: given.url }
}

/** Whether a message, or a tool result in it, names a file that the provider stores. */
export const namesFile = (message: Message.Message): boolean => {
  if (message.role === "system") return false
  if (message.role === "user") return message.content.some(isStored)
  return message.content.some(
    (part) => part.type === "settled-call" && shownParts(part.settlement, takes)?.some(isStored) === true
  )
}

const isStored = (part: Message.UserContent[number]): boolean => part.type !== "text" && givenBy(part).way === "id"

const pdf = "application/pdf"

/** Says why a file cannot be sent; `undefined` if it can. */
export const unsendable = (file: ReturnType<typeof Message.file>): string | undefined => {
  const given = givenBy(file)
  if (file.mediaType === pdf || given.way === "id") return undefined
  if (given.way === "url") return `only PDF is fetched from an address, not ${file.mediaType}`
  if (!/^text\/|^application\/(?:json|xml|yaml|.*\+(?:json|xml))$/.test(file.mediaType)) {
    return `PDF and texts are taken, not ${file.mediaType}`
  }
  return Result.isSuccess(decoded(given.data)) ? undefined : "its bytes are not in base64"
}

const decoded = (base64: string): Result.Result<string, unknown> =>
  Result.try(() => new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))))

export const ofAssistant = (message: Message.Assistant, provider: string): Blocks => {
  const blocks: Array<Block> = []
  const results: Array<Block> = []
  const ids: Array<string> = []
  const own = (opaque: Message.Opaque | undefined) => (opaque?.provider === provider ? opaque.data : undefined)
  const ended = endedIn(message)
  message.content.forEach((part, index) => {
    switch (part.type) {
      case "text": {
        if (isBlank(part.text)) return
        const next = message.content[index + 1]
        const sources = next?.type === "provider-item" && next.kind === cited ? own(next.opaque) : undefined
        // Mutant `false` survives: `JSON.stringify` leaves out citations that are undefined
        blocks.push(plain({ type: "text", text: part.text, ...(sources === undefined ? {} : { citations: sources }) }))
        return
      }
      case "reasoning": {
        const signature = Json.text(own(part.opaque))
        if (signature === undefined) return
        blocks.push({ ...plain({ type: "thinking", thinking: part.text, signature }), isThinking: true })
        return
      }
      case "provider-item": {
        const data = own(part.opaque)
        if (data === undefined || part.kind === cited) return
        const isUnfinished = part.kind.endsWith("tool_use") && !ended.has(Json.field(data, "id"))
        blocks.push({ ...plain(data), isThinking: part.kind === "redacted_thinking", isUnfinished })
        return
      }
      case "settled-call": {
        const { call, settlement } = part
        const { input: _i, name: _n, ...more } = objectOf(own(call.opaque))
        const fields = `${JSON.stringify({ name: call.name, ...more }).slice(1, -1)},"input":${inputOf(call.arguments)}`
        blocks.push(ofCall("tool_use", "id", ids.length, fields))
        results.push(
          ofCall("tool_result", "tool_use_id", ids.length, JSON.stringify(resultOf(settlement)).slice(1, -1))
        )
        ids.push(call.id)
      }
    }
  })
  return { role: "assistant", blocks, results, ids, isPaused: message.paused === true }
}

const objectOf = (json: Schema.Json | undefined): Schema.JsonObject =>
  // the type assertion holds because the values within JSON are JSON
  Predicate.isObject(json) ? (json as Schema.JsonObject) : {}

/** The ids of those calls of the provider's own tools whose results are in the message. */
const endedIn = ({ content }: Message.Assistant): ReadonlySet<Schema.Json | undefined> =>
  new Set(
    content.map((part) => (part.type === "provider-item" ? Json.field(part.opaque.data, "tool_use_id") : undefined))
  )

/**
 * The JSON text of a call's arguments, which the provider requires to be an object. If the model wrote an object as text, this is its text,
 * byte for byte. Any other text is wrapped in an object, under the name that the vendor recommends.
 */
const inputOf = (args: Message.ToolCall["arguments"]): string => {
  if (args === null) return "{}"
  if (!Predicate.isString(args)) {
    // A model may nest arguments so deeply that `JSON.stringify` overflows the stack.
    const text = Result.try(() => JSON.stringify(args))
    if (Result.isFailure(text)) return invalid("nested too deeply")
    return Predicate.isObject(args) ? text.success : invalid(text.success)
  }
  if (isBlank(args)) return "{}"
  const parsed = Json.parse(args)
  return Result.isSuccess(parsed) && Predicate.isObject(parsed.success) ? args.trim() : invalid(args)
}

const invalid = (text: string): string => JSON.stringify({ INVALID_JSON: text })

/**
 * Whether a tool result may carry an attachment: images and PDF, as bytes, by URL or by the id of a stored file, and text files as bytes
 * (`BetaToolResultBlockParam` of `anthropic-sdk-typescript`, looked up on 2026-11-26).
 */
export const takes: Takes = (part) =>
  isPlainImage(part) || isPdf(part) || (part.type === "file" && isTextFile(part) && unsendable(part) === undefined)

/** The fields of a tool result. The provider requires a text for a failed call. */
const resultOf = (settlement: Message.Settlement): Schema.JsonObject => {
  if (!Message.isError(settlement)) {
    const parts = shownParts(settlement, takes)?.filter((part) => part.type !== "text" || !isBlank(part.text))
    return { content: parts?.map(partOf) ?? settlement.text }
  }
  return { content: isBlank(settlement.text) ? "The call failed." : settlement.text, is_error: true }
}
