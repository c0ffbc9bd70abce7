/** Converts a transcript to a prompt of `effect/ai`. Metadata from a provider goes back to that provider. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { givenBy } from "../codec/Attached.ts"
import * as ArgumentsObject from "../codec/ArgumentsObject.ts"
import * as Json from "../transport/Json.ts"
import { remembering } from "../codec/Remembering.ts"

/** The provider name of opaque data that comes from `effect/ai`. The data itself has a key for each real provider. */
export const theirs = "effect/ai"

/** The kind of provider item that stores the metadata of the text before it, and the length of that text. */
export const marked = "text"

type Takes = NonNullable<Model.Service["showsInResults"]>

/** Makes a function that converts transcripts to prompts. `takes` says which images and files the model can read in tool results. */
export const promptsFor = (takes: Takes): ((transcript: Message.Transcript) => Prompt.Prompt) => {
  const messagesOf = remembering((message: Message.Message): ReadonlyArray<Prompt.Message> => {
    switch (message.role) {
      case "system":
        return [Prompt.systemMessage({ content: message.text })]
      case "user":
        return [Prompt.userMessage({ content: message.content.map(contentPart) })]
      case "assistant":
        return assistant(message, takes)
    }
  })
  return (transcript) => Prompt.fromMessages(transcript.flatMap(messagesOf))
}

const contentPart = (part: Message.UserContent[number]): Prompt.ToolModelOutputPart => {
  if (part.type === "text") return Prompt.textPart({ text: part.text })
  const given = givenBy(part)
  const data = given.way === "data" ? bytesOf(given.data) : addressOf(given.way === "url" ? given.url : given.id)
  // Mutant `true` for `part.type === "file"` survives: an image has no name
  const fileName = part.type === "file" && part.name !== undefined ? { fileName: part.name } : {}
  return Prompt.filePart({ mediaType: part.mediaType, data, ...fileName })
}

/** Converts the URL of an image or a file. A text that is not a URL is the provider's id of a stored file. */
const addressOf = (url: string): string | URL =>
  Result.getOrElse(
    Result.try(() => new URL(url)),
    () => url
  )

const decodeBytes = Schema.decodeResult(Schema.Uint8ArrayFromBase64)

const bytesOf = (base64: string): string | Uint8Array => Result.getOrElse(decodeBytes(base64), () => base64)

/** Converts an assistant message to one of `effect/ai`, followed by a message with the results of its calls. */
const assistant = (message: Message.Assistant, takes: Takes): ReadonlyArray<Prompt.Message> => {
  const content: Array<Prompt.AssistantMessagePart> = []
  const results: Array<Prompt.ToolMessagePart> = []
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        content.push(Prompt.textPart({ text: part.text }))
        break
      case "reasoning":
        if (part.opaque === undefined || part.opaque.provider === theirs) {
          content.push(Prompt.reasoningPart({ text: part.text, options: optionsOf(part.opaque) }))
        }
        break
      case "provider-item":
        if (part.opaque.provider === theirs) addItem(content, part)
        break
      case "settled-call":
        content.push(callPart(part.call))
        results.push(resultPart(part, takes))
    }
  }
  return [
    ...(content.length === 0 ? [] : [Prompt.assistantMessage({ content })]),
    ...(results.length === 0 ? [] : [Prompt.toolMessage({ content: results })])
  ]
}

const callPart = ({ arguments: args, id, name, opaque }: Message.ToolCall): Prompt.ToolCallPart =>
  Prompt.toolCallPart({
    id,
    name,
    params: ArgumentsObject.of(args),
    providerExecuted: false,
    options: optionsOf(opaque)
  })

/**
 * The parts of a tool result, if it has images or files and the model can read all of them; otherwise `undefined`, and the model reads the
 * text of the result.
 */
const outputOf = (
  settlement: Message.Settlement,
  takes: Takes
): ReadonlyArray<Prompt.ToolModelOutputPart> | undefined => {
  const { parts = [] } = settlement
  if (settlement.kind !== "result" || parts.every(({ type }) => type === "text")) return undefined
  const shown = parts.flatMap((part) => ("bytes" in part || (part.type !== "text" && !takes(part)) ? [] : [part]))
  return shown.length === parts.length ? shown.map(contentPart) : undefined
}

/** Converts a tool call's result. A JSON text is parsed, because `effect/ai` turns the value back into the same text. */
const resultPart = ({ call, settlement }: Message.SettledCall, takes: Takes): Prompt.ToolResultPart => {
  const parsed = Json.parse(settlement.text)
  const modelOutput = outputOf(settlement, takes)
  return Prompt.toolResultPart({
    id: call.id,
    name: call.name,
    isFailure: settlement.kind !== "result",
    result: Result.isSuccess(parsed) ? parsed.success : settlement.text,
    ...(modelOutput === undefined ? {} : { modelOutput }),
    providerExecuted: false
  })
}

const optionsOf = (opaque: Message.Opaque | undefined): Prompt.ProviderOptions =>
  opaque?.provider === theirs ? record(opaque.data) : {}

const record = (data: Schema.Json | undefined): Prompt.ProviderOptions => Json.object(data) ?? {}

const addItem = (content: Array<Prompt.AssistantMessagePart>, { kind, opaque: { data } }: Message.ProviderItem) => {
  if (kind === marked) return mark(content, data)
  const part = Json.field(data, "part")
  const options = record(Json.field(part, "metadata"))
  const id = Json.text(Json.field(part, "id")) ?? ""
  const name = Json.text(Json.field(part, "name")) ?? ""
  switch (Json.field(part, "type")) {
    case "tool-call":
      content.push(
        Prompt.toolCallPart({ id, name, params: Json.field(part, "params"), providerExecuted: true, options })
      )
      break
    case "tool-result": {
      const isFailure = Json.field(part, "isFailure") === true
      const result = Json.field(part, "result")
      content.push(Prompt.toolResultPart({ id, name, isFailure, result, providerExecuted: true, options }))
      break
    }
    case "file": {
      const mediaType = Json.text(Json.field(part, "mediaType")) ?? ""
      content.push(Prompt.filePart({ mediaType, data: Json.text(Json.field(part, "data")) ?? "", options }))
    }
  }
}

/**
 * Restores the metadata of the last text part. The metadata may belong to the end of that text only: `length` says to how many characters.
 */
const mark = (content: Array<Prompt.AssistantMessagePart>, data: Schema.Json): void => {
  const options = record(Json.field(data, "metadata"))
  const length = Json.count(Json.field(data, "length")) ?? 0
  const last = content.at(-1)
  if (last?.type !== "text" || length === 0 || length > last.text.length) {
    content.push(Prompt.textPart({ text: "", options }))
    return
  }
  const at = last.text.length - length
  const before = at === 0 ? [] : [Prompt.textPart({ text: last.text.slice(0, at) })]
  content.splice(-1, 1, ...before, Prompt.textPart({ text: last.text.slice(at), options }))
}

/** Converts a value that should be JSON to JSON. Content that JSON cannot represent is omitted, as `JSON.stringify` does. */
export const jsonOf = (value: unknown): Schema.Json => {
  const written: string | undefined = JSON.stringify(value)
  // the result of `JSON.parse` is JSON
  return written === undefined ? null : (JSON.parse(written) as Schema.Json)
}
