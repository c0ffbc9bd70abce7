/** Converts a prompt of `effect/ai` to a transcript. Metadata that a model of this library wrote goes back to that model. */
import * as Message from "@kintsugi/core/Message"
import * as Prompt from "effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { ours } from "./original.ts"
import { jsonOf } from "./prompt.ts"
import { base64 } from "./reply.ts"
import * as Json from "../transport/Json.ts"
import { remembering } from "../codec/Remembering.ts"

/** Converts a prompt to a transcript in which every call has a result. Data that only the prompt's own provider can read is left out. */
export const transcriptOf = (prompt: Prompt.Prompt): Message.Transcript =>
  Message.repair(prompt.content.flatMap(foreignOf))

/** Converts a message of a prompt to messages of a foreign history. */
const foreignOf = remembering((message: Prompt.Message): ReadonlyArray<Message.Foreign> => {
  switch (message.role) {
    case "system":
      return [Message.system(message.content)]
    case "user":
      return [Message.user(message.content.map(contentOf))]
    case "assistant":
      return [
        {
          role: "assistant",
          content: message.content.flatMap(assistantPart),
          ...(message.content.some(isPause) ? { paused: true as const } : {})
        }
      ]
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result"
          ? [{ role: "tool", callId: part.id, text: resultText(part), isError: part.isFailure, ...partsIn(part) }]
          : []
      )
  }
})

const isPause = (part: Prompt.AssistantMessagePart): boolean =>
  part.type === "text" && Json.field(Json.field(jsonOf(part.options), ours), "paused") === true

/** Converts a part of a user message: a text, an image or a file. */
export const contentOf = (part: Prompt.UserMessagePart): Message.UserContent[number] => {
  if (part.type === "text") return Message.text(part.text)
  const from = attached(part.data)
  return part.mediaType.startsWith("image/")
    ? Message.image(part.mediaType, from)
    : Message.file(part.mediaType, from, part.fileName)
}

const attached = (data: string | Uint8Array | URL): Parameters<typeof Message.image>[1] => {
  if (data instanceof Uint8Array) return { data: base64(data) }
  const text = data instanceof URL ? data.href : data
  const inline = /^data:[^,]*;base64,/i.exec(text)?.[0]
  if (inline !== undefined) return { data: text.slice(inline.length) }
  // `-` and `_` do not occur in base64, so such a text is the id of a stored file
  return data instanceof URL || /^(?:https?:\/\/|file[-_])/i.test(text) ? { url: text } : { data: text }
}

const assistantPart = (
  part: Prompt.AssistantMessagePart
): Extract<Message.Foreign, { readonly role: "assistant" }>["content"] => {
  const own = Json.field(jsonOf(part.options), ours)
  switch (part.type) {
    case "text": {
      const item = Option.getOrUndefined(readItem(Json.field(own, "item")))
      if (item !== undefined) return [item]
      return part.text === "" ? [] : [Message.text(part.text)]
    }
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...opaqueIn(own) }]
    case "tool-call": {
      const { id, name, params } = part
      return part.providerExecuted ? [] : [{ type: "tool-call", id, name, arguments: jsonOf(params), ...opaqueIn(own) }]
    }
    case "tool-result":
    case "file":
    case "tool-approval-request":
      return []
  }
}

const readItem = Schema.decodeUnknownOption(Message.ProviderItem)
const readOpaque = Schema.decodeUnknownOption(Message.Opaque)

const opaqueIn = (own: Schema.Json | undefined): { readonly opaque?: Message.Opaque } =>
  Option.match(readOpaque(Json.field(own, "opaque")), { onNone: () => ({}), onSome: (opaque) => ({ opaque }) })

/** The parts that the model reads of a tool result, if there are images or files among them. */
const partsIn = ({ modelOutput = [] }: Prompt.ToolResultPart): Pick<Message.Settlement, "parts"> =>
  modelOutput.some(({ type }) => type === "file") ? { parts: modelOutput.map(contentOf) } : {}

/** The text that the model reads of a tool result. */
const resultText = ({ modelOutput, result }: Prompt.ToolResultPart): string => {
  if (modelOutput !== undefined) return Prompt.toolModelOutputToText(modelOutput)
  return Predicate.isString(result) ? result : JSON.stringify(jsonOf(result))
}
