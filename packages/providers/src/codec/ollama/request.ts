/**
 * Encodes a request as the body of Ollama's `/api/chat`. Messages and tools are encoded once and cached by their
 * identity, so that a turn does not pay for the transcript before it.
 */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type * as Schema from "effect/Schema"
import * as ArgumentsObject from "../ArgumentsObject.ts"
import { givenBy } from "../Attached.ts"
import { settlementText } from "../text.ts"
import * as OutputWords from "../outputWords.ts"
import { remembering } from "../Remembering.ts"
import type { Codec } from "../Codec.ts"
import * as RootSchema from "../rootSchema.ts"

/** The fields of a body that are the same in every request: the model and its parameters. */
export type Constants = Readonly<Record<string, Schema.Json | undefined>>

/** Makes the encoder of requests. `shape` says how the server enforces the schema of an output, see `Capabilities`. */
export const make = (provider: string, constants: Constants, shape: "schema" | "json" | "none"): Codec["encode"] => {
  const head = JSON.stringify(constants).slice(0, -1)
  const isLeftToUser = constants["format"] !== undefined
  const messages = remembering((message: Message.Message) => encodeMessage(message, provider))
  const tools = remembering(encodeTool)
  const formats = remembering(
    ({ schema }: Model.OutputSpec) => `,"format":${JSON.stringify(shape === "schema" ? schema : "json")}`
  )
  const messagesOf = OutputWords.make()
  return (request, mode) => {
    const { output, toolChoice, tools: specs } = request
    // The format cannot express `none`, so no tools are offered for it.
    const offered = toolChoice === "none" ? [] : specs
    const toolField = offered.length === 0 ? "" : `,"tools":[${offered.map(tools).join(",")}]`
    // A format restricts every token from the first on, so beside tools the model could not write a call.
    const isShaped = output !== undefined && shape !== "none" && offered.length === 0 && !isLeftToUser
    const format = isShaped ? formats(output) : ""
    const said = messagesOf(request, isLeftToUser || (isShaped && shape === "schema"))
      .map(messages)
      .filter((text) => text !== "")
    const stream = `,"stream":${mode === "streamed"}`
    return `${head},"messages":[${said.join(",")}]${toolField}${format}${stream}}`
  }
}

const encodeMessage = (message: Message.Message, provider: string): string => {
  switch (message.role) {
    case "system":
      return JSON.stringify({ role: "system", content: message.text })
    case "user":
      return encodeUser(message)
    case "assistant":
      return encodeAssistant(message, provider)
  }
}

/** Encodes a message of the user. Its images are in a field beside the text. */
const encodeUser = ({ content }: Message.User): string => {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const images = content.flatMap((part) => {
    const given = part.type === "image" ? givenBy(part) : undefined
    return given?.way === "data" ? [given.data] : []
  })
  return JSON.stringify({ role: "user", content: texts.join("\n"), ...(images.length === 0 ? {} : { images }) })
}

/**
 * Encodes a message of the assistant, followed by one message for the result of each call, in their order. An empty message is left out.
 */
const encodeAssistant = (message: Message.Assistant, provider: string): string => {
  const callParts = message.content.filter((part) => part.type === "settled-call")
  const thinking = thoughtsOf(message, provider)
  if (callParts.length === 0 && thinking === "" && Message.textOf(message) === "") return ""
  const assistant = {
    role: "assistant",
    content: Message.textOf(message),
    ...(thinking === "" ? {} : { thinking }),
    ...(callParts.length === 0 ? {} : { tool_calls: callParts.map(({ call }) => encodeCall(call)) })
  }
  const results = callParts.map(({ call, settlement }) => ({
    role: "tool",
    content: settlementText(settlement),
    tool_name: call.name,
    tool_call_id: call.id
  }))
  return [assistant, ...results].map((wire) => JSON.stringify(wire)).join(",")
}

/** The text of this provider's reasoning. Reasoning of other providers is not sent. */
const thoughtsOf = ({ content }: Message.Assistant, provider: string): string =>
  content.map((part) => (part.type === "reasoning" && part.opaque?.provider === provider ? part.text : "")).join("")

const encodeCall = ({ arguments: args, id, name }: Message.ToolCall) => ({
  id,
  function: { name, arguments: ArgumentsObject.of(args) }
})

const encodeTool = ({ description, name, parameters }: Message.ToolSpec): string =>
  JSON.stringify({
    type: "function",
    function: { name, description, parameters: RootSchema.parametersRoot(parameters) ?? parameters }
  })
