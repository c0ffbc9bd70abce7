/**
 * From a request to the body of `POST /chat/completions`. Messages and tools are encoded once and remembered by their
 * identity, so that a turn does not pay for the transcript before it.
 */
import { InvalidRequestError } from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Source } from "../Source.ts"
import { remembering } from "./remembering.ts"

/** Model and parameters, which are the same for every request. */
export type Constants = Readonly<Record<string, Schema.Json | undefined>>

export type Encoder = (request: Model.Request, mode: "whole" | "streamed") => string

export const make = (provider: string, constants: Constants): Encoder => {
  const head = JSON.stringify(constants).slice(0, -1)
  const messages = remembering((message: Message.Message) => encodeMessage(message, provider))
  const tools = remembering(encodeTool)
  const formats = remembering(constants["response_format"] === undefined ? encodeFormat : () => "")
  return ({ messages: transcript, output, toolChoice, tools: specs }, mode) => {
    const toolFields = specs.length === 0 ? "" : `,"tools":[${specs.map(tools).join(",")}]${encodeChoice(toolChoice)}`
    const stream = mode === "streamed" ? ',"stream":true,"stream_options":{"include_usage":true}' : ""
    const format = output === undefined ? "" : formats(output)
    return `${head},"messages":[${transcript.map(messages).join(",")}]${toolFields}${format}${stream}}`
  }
}

const encodeMessage = (message: Message.Message, provider: string): string => {
  switch (message.role) {
    case "system":
      return JSON.stringify({ role: "system", content: message.text })
    case "user": {
      const [only, ...more] = message.content
      const text = only === undefined ? "" : more.length === 0 && only.type === "text" ? only.text : undefined
      return JSON.stringify({ role: "user", content: text ?? message.content.map(encodePart) })
    }
    case "assistant":
      return encodeAssistant(message, provider)
  }
}

const encodePart = (part: Message.UserContent[number]): Schema.Json => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text }
    case "image":
      return { type: "image_url", image_url: { url: "url" in part ? part.url : dataUrl(part.mediaType, part.data) } }
    case "file": {
      const data = "data" in part ? { file_data: dataUrl(part.mediaType, part.data) } : {}
      return { type: "file", file: { filename: part.name ?? "file", ...data } }
    }
  }
}

export const dataUrl = (mediaType: string, base64: string): string => `data:${mediaType};base64,${base64}`

/** What this format cannot say: a file is sent, never fetched. */
export const refusing = ({
  model,
  provider
}: Source): ((request: Model.Request) => InvalidRequestError | undefined) => {
  const sayable = new WeakSet<Message.Message>()
  return ({ messages }) => {
    for (const message of messages) {
      if (message.role !== "user" || sayable.has(message)) continue
      if (message.content.some((part) => part.type === "file" && "url" in part)) {
        const why = "a file at an address cannot be sent in this format, only its bytes"
        return InvalidRequestError.invalidRequest(model, why, { provider })
      }
      sayable.add(message)
    }
    return undefined
  }
}

/** Only objects are taken, under names of a few characters. */
const encodeFormat = ({ name, schema }: Model.OutputSpec): string => {
  if (schema["type"] !== "object") return ""
  const json_schema = { name: formatName(name), schema }
  return `,"response_format":${JSON.stringify({ type: "json_schema", json_schema })}`
}

export const formatName = (name: string): string => name.replaceAll(/[^\w-]/g, "_").slice(0, maxName) || "output"

const maxName = 64

/** The message itself, and right after it one message per call, in the order of the calls. */
const encodeAssistant = (message: Message.Assistant, provider: string): string => {
  const settled = message.content.filter((part) => part.type === "settled-call")
  const text = Message.textOf(message)
  const assistant = {
    role: "assistant",
    content: text === "" && settled.length > 0 ? null : text,
    ...encodeReasoning(message, provider),
    ...(settled.length === 0 ? {} : { tool_calls: settled.map(({ call }) => encodeCall(call)) })
  }
  const results = settled.map(({ call, settlement }) => ({
    role: "tool",
    tool_call_id: call.id,
    content: encodeSettlement(settlement)
  }))
  return [assistant, ...results].map((wire) => JSON.stringify(wire)).join(",")
}

/** Under the name by which this very provider sent it; what others thought stays with them. */
const encodeReasoning = (message: Message.Assistant, provider: string): Readonly<Record<string, string>> => {
  const fields: Record<string, string> = {}
  for (const part of message.content) {
    if (part.type !== "reasoning" || part.opaque?.provider !== provider) continue
    const name = part.opaque.data
    if (Predicate.isString(name)) fields[name] = (fields[name] ?? "") + part.text
  }
  return fields
}

const encodeCall = ({ arguments: args, id, name }: Message.ToolCall) => ({
  id,
  type: "function",
  function: { name, arguments: encodeArguments(args) }
})

/** The model's own text, byte for byte; absent arguments are an empty object. */
export const encodeArguments = (args: Message.ToolCall["arguments"]): string =>
  Predicate.isString(args) ? args : args === null ? "{}" : JSON.stringify(args)

/** There is no flag for a failed call, so its text says so itself. */
export const encodeSettlement = (settlement: Message.Settlement): string =>
  Message.isError(settlement) && !saysError.test(settlement.text) ? `ERROR: ${settlement.text}` : settlement.text

/** How the texts begin that this library tells a model about a failure. */
const saysError = /^(?:ERROR:|transient:|permanent:|unknown tool:)/

const encodeTool = ({ description, name, parameters }: Message.ToolSpec): string =>
  JSON.stringify({ type: "function", function: { name, description, parameters } })

const encodeChoice = (choice: Model.ToolChoice): string => {
  if (choice === "auto") return ""
  const encoded = Predicate.isString(choice) ? choice : { type: "function", function: { name: choice.tool } }
  return `,"tool_choice":${JSON.stringify(encoded)}`
}
