/** The contents of a run as attributes of spans, in the format of the GenAI conventions, with credentials redacted. */
import * as Redaction from "../data/Redaction.ts"
import * as Message from "../data/Message.ts"
import { jsonOf } from "../event/Json.ts"
import type { Table } from "./attributes.ts"

/** The limit for the length of a text in an attribute, in characters. */
const longest = 16_384

const text = (value: unknown): string =>
  Redaction.foreign(typeof value === "string" ? value : (JSON.stringify(jsonOf(value)) ?? ""), longest)

/** The contents of the events that begin and end operations. */
export const ofOperation: Table = {
  "run-start": ({ transcript }) => ({ "gen_ai.input.messages": text(transcript.map(messageOf)) }),
  "tool-start": (event) => ({ "gen_ai.tool.call.arguments": text(event.arguments) }),
  "model-end": ({ reply: { content, finish } }) => ({
    "gen_ai.output.messages": text([{ role: "assistant", parts: content.map(partOf), finish_reason: finish }])
  }),
  "tool-end": ({ use }) => ({ "gen_ai.tool.call.result": text(use.settlement.text) })
}

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
