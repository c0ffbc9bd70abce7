/**
 * Encodes a request as the body of `generateContent`. Messages and tools are encoded once and cached by their
 * identity, so that a turn does not pay for the transcript before it.
 */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Source } from "../../transport/Source.ts"
import * as ArgumentsObject from "../ArgumentsObject.ts"
import { addressOf, givenBy } from "../Attached.ts"
import * as ContentReply from "./reply.ts"
import * as Json from "../../transport/Json.ts"
import * as OutputWords from "../outputWords.ts"
import { remembering } from "../Remembering.ts"
import * as Extra from "../Extra.ts"
import { isPdf, isPlainImage, isTextFile, shownParts, type Takes } from "../resultParts.ts"
import * as RootSchema from "../rootSchema.ts"
import { adapted } from "./schema.ts"

type Fields = Readonly<Record<string, Schema.Json | undefined>>

/** The fields of a body that are the same in every request. */
export interface Constants {
  /** The further fields of the body. */
  readonly body: Fields
  readonly generationConfig: Fields
  readonly toolConfig: Schema.JsonObject
  /** Whether the request names a cached content. That has the prompt and the tools, so they are not sent. */
  readonly isCached: boolean
  /** The tools that Gemini runs itself. */
  readonly tools: ReadonlyArray<Schema.Json>
  /** How the server enforces the schema of an output, see `Capabilities`. */
  readonly output: "schema" | "json" | "none"
}

export type Encoder = (request: Model.Request) => string

export const make = (source: Source, constants: Constants): Encoder => {
  const { isCached } = constants
  const messages = remembering((message: Message.Message) => encodeMessage(message, source))
  const tools = remembering(encodeTool)
  const ownTools = constants.tools.map((tool) => JSON.stringify(tool))
  const isLeftToUser = ["responseSchema", "responseJsonSchema"].some((name) =>
    Object.hasOwn(constants.generationConfig, name)
  )
  const plain = filled("generationConfig", constants.generationConfig)
  const shaped = remembering(({ schema }: Model.OutputSpec) => {
    const shape = constants.output === "schema" && !isLeftToUser ? { responseJsonSchema: adapted(schema) } : {}
    // the fields that the user has set win
    return filled("generationConfig", { responseMimeType: "application/json", ...shape, ...constants.generationConfig })
  })
  const rest = filled("", constants.body)
  const messagesOf = OutputWords.make()
  return (request) => {
    const { output, toolChoice } = request
    const specs = isCached ? [] : request.tools
    const declared = specs.length === 0 ? [] : [`{"functionDeclarations":[${specs.map(tools).join(",")}]}`]
    const offered = isCached ? [] : [...declared, ...ownTools]
    const choice = specs.length === 0 ? {} : encodeChoice(toolChoice)
    const isShaped = output !== undefined && constants.output !== "none" && (offered.length === 0 || isThird(source))
    const system: Array<string> = []
    const contents: Array<string> = []
    for (const message of messagesOf(request, (isShaped && constants.output === "schema") || isLeftToUser)) {
      const encoded = messages(message)
      if (encoded !== "") (message.role === "system" ? system : contents).push(encoded)
    }
    return [
      `{"contents":[${contents.join(",")}]`,
      system.length === 0 || isCached ? "" : `,"systemInstruction":{"parts":[${system.join(",")}]}`,
      offered.length === 0 ? "" : `,"tools":[${offered.join(",")}]`,
      filled("toolConfig", Extra.merged(constants.toolConfig, choice)),
      isShaped ? shaped(output) : plain,
      rest,
      "}"
    ].join("")
  }
}

/**
 * The JSON text of further members of an object, after a comma. They are these fields, or one field of this name with these fields in it;
 * empty if there are no fields.
 */
const filled = (name: string, fields: Fields): string => {
  const text = JSON.stringify(fields)
  if (text === "{}") return ""
  return name === "" ? `,${text.slice(1, -1)}` : `,"${name}":${text}`
}

/** Whether a model is Gemini 3 or later: such a model requires the signature of a call, and takes tools and an output schema together. */
const isThird = ({ model }: Source): boolean => /(?:^|\/)gemini-(?:[3-9]|\d{2})/.test(model)

/** Encodes a message: a system message as a part of the system instruction, any other as one or two contents. */
const encodeMessage = (message: Message.Message, source: Source): string => {
  switch (message.role) {
    case "system":
      return JSON.stringify({ text: message.text })
    case "user": {
      const parts = message.content.map(encodePart)
      return encodeContent("user", parts.length === 0 ? [{ text: "" }] : parts)
    }
    case "assistant":
      return encodeAssistant(message, source)
  }
}

const encodeContent = (role: "user" | "model", parts: ReadonlyArray<Schema.Json>): string =>
  JSON.stringify({ role, parts })

const encodePart = (part: Message.UserContent[number]): Schema.Json => {
  if (part.type === "text") return { text: part.text }
  const mimeType = part.mediaType
  const given = givenBy(part)
  return given.way === "data"
    ? { inlineData: { mimeType, data: given.data } }
    : { fileData: { mimeType, fileUri: uriOf(addressOf(part)) } }
}

/**
 * The URI of a file. A stored file may be given by its `name`, from which its `uri` follows (ai.google.dev, "Using files", looked up on
 * 2026-11-26).
 */
const uriOf = (address: string): string =>
  /^files\/[\w-]+$/.test(address) ? `https://generativelanguage.googleapis.com/v1beta/${address}` : address

/** Encodes a message of the model, followed by the results of its calls, in their order. A message without parts is left out. */
const encodeAssistant = (message: Message.Assistant, source: Source): string => {
  const said: Array<Schema.Json> = []
  const results: Array<Schema.Json> = []
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        if (part.text !== "") said.push({ text: part.text })
        break
      case "reasoning":
        if (part.opaque?.provider === source.provider) {
          said.push({ text: part.text, thought: true, ...signatureIn(part.opaque.data) })
        }
        break
      case "provider-item":
        if (part.opaque.provider === source.provider) addItem(said, part)
        break
      case "settled-call": {
        const isFirst = results.length === 0
        said.push(encodeCall(part.call, source, isFirst))
        results.push(encodeResult(part, source))
      }
    }
  }
  if (said.length === 0) return ""
  const model = encodeContent("model", said)
  return results.length === 0 ? model : `${model},${encodeContent("user", results)}`
}

/**
 * Adds an item to the parts of a message. Metadata is not sent back, a signature is put on the text that it signs, and any other item is
 * sent back unchanged.
 */
const addItem = (said: Array<Schema.Json>, { kind, opaque: { data } }: Message.ProviderItem): void => {
  if (ContentReply.remarks.includes(kind) || kind === ContentReply.logprobs) return
  if (kind !== ContentReply.signature) return void said.push(data)
  const last = said.at(-1)
  const isText = Json.field(last, "thought") === undefined && Json.field(last, ContentReply.signature) === undefined
  const text = isText ? (Json.text(Json.field(last, "text")) ?? "") : ""
  if (text !== "") said.pop()
  const start = Math.max(0, text.length - (Json.count(Json.field(data, "length")) ?? 0))
  if (start > 0) said.push({ text: text.slice(0, start) })
  said.push({ text: text.slice(start), ...signatureIn(data) })
}

const signatureIn = (data: Schema.Json | undefined): Readonly<Record<string, string>> => {
  const signed = Json.text(Json.field(data, ContentReply.signature))
  return signed === undefined ? {} : { [ContentReply.signature]: signed }
}

const encodeCall = (call: Message.ToolCall, source: Source, isFirst: boolean): Schema.Json => {
  const own = ownData(call, source)
  const signed = signatureIn(own)
  const unsigned = Object.keys(signed).length === 0
  return {
    functionCall: { ...idIn(own), name: call.name, args: ArgumentsObject.of(call.arguments) },
    ...(unsigned && isFirst && isThird(source) ? { [ContentReply.signature]: unsignedMark } : signed)
  }
}

/**
 * Google's placeholder for the signature of a call. It is sent for calls of another model, because Gemini refuses the first call of a step
 * without a signature.
 */
const unsignedMark = "skip_thought_signature_validator"

/**
 * Makes the check whether a tool result may carry an attachment. From Gemini 3 on, it may carry PNG, JPEG, WebP, PDF and plain text, as
 * bytes ("Multimodal function responses" of ai.google.dev, read in github.com/lm15-dev/lm15-contract, `research/tool-result-content`, on
 * 2026-11-26). Earlier models answer with the status 400.
 */
export const takesOf = ({ model }: Source): Takes =>
  /gemini-(?:[3-9]|\d\d)/.test(model)
    ? (part) =>
        givenBy(part).way === "data" &&
        ((isPlainImage(part) && part.mediaType !== "image/gif") ||
          isPdf(part) ||
          (isTextFile(part) && part.mediaType === "text/plain"))
    : () => false

/** Encodes the result of a call: a failed call has the field `error`, a successful one `output`. */
const encodeResult = ({ call, settlement }: Message.SettledCall, source: Source): Schema.Json => {
  const shown = shownParts(settlement, takesOf(source))
  const text = shown === undefined ? settlement.text : shown.flatMap(textIn).join("\n")
  return {
    functionResponse: {
      ...idIn(ownData(call, source)),
      name: call.name,
      response: Message.isError(settlement) ? { error: text } : { output: text },
      ...(shown === undefined ? {} : { parts: shown.filter(({ type }) => type !== "text").map(encodePart) })
    }
  }
}

const textIn = (part: Message.UserContent[number]) => (part.type === "text" ? part.text : [])

/**
 * Gemini's own data about a call, such as its id. An id of another origin is not sent: then the order of the results connects them to their
 * calls.
 */
const ownData = ({ opaque }: Message.ToolCall, { provider }: Source): Schema.Json | undefined =>
  opaque?.provider === provider ? opaque.data : undefined

const idIn = (data: Schema.Json | undefined): Readonly<Record<string, string>> => {
  const id = Json.text(Json.field(data, "id"))
  return id === undefined ? {} : { id }
}

const encodeTool = ({ description, name, parameters }: Message.ToolSpec): string =>
  JSON.stringify({
    name,
    description,
    parametersJsonSchema: adapted(RootSchema.parametersRoot(parameters) ?? parameters)
  })

const encodeChoice = (choice: Model.ToolChoice): Schema.JsonObject => {
  if (choice === "auto") return {}
  const config = Predicate.isString(choice)
    ? { mode: choice === "none" ? "NONE" : "ANY" }
    : { mode: "ANY", allowedFunctionNames: [choice.tool] }
  return { functionCallingConfig: config }
}
