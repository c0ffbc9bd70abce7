/** What was said in a run, for spans that are to hold it: in the shape of the GenAI conventions, credentials masked. */
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Message from "../data/Message.ts"
import { jsonOf } from "../event/Json.ts"
import type { Attributes, Report } from "./attributes.ts"
import type { Beginning } from "./Operations.ts"

/** The longest text in an attribute, in characters. */
const longest = 16_384

const text = (value: unknown): string =>
  Redaction.foreign(typeof value === "string" ? value : (JSON.stringify(jsonOf(value)) ?? ""), longest)

export const ofBeginning = (event: Beginning): Attributes => {
  switch (event.type) {
    case "run-start":
      return { "gen_ai.input.messages": text(event.transcript.map(messageOf)) }
    case "model-start":
      return {}
    case "tool-start":
      return { "gen_ai.tool.call.arguments": text(event.arguments) }
  }
}

export const ofEnd = (event: AgentEvent.AgentEvent): Attributes => {
  switch (event.type) {
    case "model-end": {
      const { content, finish } = event.reply
      return {
        "gen_ai.output.messages": text([{ role: "assistant", parts: content.map(partOf), finish_reason: finish }])
      }
    }
    case "tool-end":
      return { "gen_ai.tool.call.result": text(event.use.settlement.text) }
    default:
      return {}
  }
}

/** What an error says, in full. */
export const reportOf = (error: unknown): Report => ErrorCause.summarise(error)

const messageOf = (message: Message.Message) => ({
  role: message.role,
  parts: message.role === "assistant" ? message.content.map(partOf) : [{ type: "text", content: wordsOf(message) }]
})

const wordsOf = (message: Message.System | Message.User): string =>
  message.role === "system" ? message.text : Message.textOf(message)

const partOf = (part: Message.Assistant["content"][number] | Message.ToolCall) => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: part.text }
    case "provider-item":
      return { type: part.kind }
    case "tool-call":
      return callOf(part)
    case "settled-call":
      return { ...callOf(part.call), response: part.settlement.text }
  }
}

const callOf = ({ arguments: args, id, name }: Message.ToolCall) => ({ type: "tool_call", id, name, arguments: args })
