/**
 * Encodes messages as the plain items of the Open Responses standard, as Perplexity's agent API takes them: it refuses a field that it does
 * not know (github.com/perplexityai/perplexity-node, `InputItem`; looked up on 2026-11-26, not recorded).
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { addressOf } from "../Attached.ts"
import { argumentsText, settlementText } from "../text.ts"

/** The field of a call that holds the signature of the thoughts before it. Some models behind the server demand it back. */
const signature = "thought_signature"

/** Encodes a message as plain items. `ids` are the call ids that are sent for its calls. */
export const ofMessage = (
  message: Message.Message,
  provider: string,
  ids: ReadonlyArray<string>
): ReadonlyArray<Schema.JsonObject> => {
  if (message.role === "system") return [said("system", message.text)]
  if (message.role === "user") {
    const [only, ...more] = message.content
    const isText = only?.type === "text" && more.length === 0
    return [said("user", isText ? only.text : message.content.flatMap(ofPart))]
  }
  const items: Array<Schema.JsonObject> = []
  const results: Array<Schema.JsonObject> = []
  let text = ""
  const close = () => {
    if (text !== "") items.push(said("assistant", text))
    text = ""
  }
  for (const part of message.content) {
    if (part.type === "text") text += part.text
    if (part.type !== "settled-call") continue
    close()
    const { call, settlement } = part
    const call_id = ids[results.length] ?? call.id
    const { name, opaque } = call
    const signed = opaque?.provider === provider ? Json.text(Json.field(opaque.data, signature)) : undefined
    items.push({
      type: "function_call",
      call_id,
      name,
      arguments: argumentsText(call.arguments),
      ...(signed === undefined ? {} : { [signature]: signed })
    })
    results.push({ type: "function_call_output", call_id, name, output: settlementText(settlement) })
  }
  close()
  return [...items, ...results]
}

const said = (role: Message.Message["role"], content: Schema.Json): Schema.JsonObject => ({
  type: "message",
  role,
  content
})

/** Encodes a part of a user's message. Files never get here, because the capabilities refuse them. */
const ofPart = (part: Message.UserContent[number]): ReadonlyArray<Schema.JsonObject> => {
  if (part.type === "text") return [{ type: "input_text", text: part.text }]
  return part.type === "image" ? [{ type: "input_image", image_url: addressOf(part) }] : []
}
