/** How large a reply is: the bytes of its texts, thoughts, arguments and provider items in UTF-8, without any framing. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"

/** The bytes of a text in UTF-8. */
export const ofText = (text: string): number => {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // each half of a pair is two of its four bytes
    if (code >= 0x80) bytes += code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}

/** The bytes of the names and texts within a value, and one for everything else. */
export const ofJson = (value: unknown): number => {
  if (Predicate.isString(value)) return ofText(value)
  if (!Predicate.isObjectOrArray(value)) return 1
  return Object.entries(value).reduce((sum, [key, member]) => sum + ofText(key) + ofJson(member), 0)
}

/** The bytes of a part of a stream. */
export const ofPart = (part: Model.Part): number => {
  switch (part.type) {
    case "text-delta":
      return ofText(part.text)
    case "reasoning-delta":
      return ofText(part.text) + ofMark(part.opaque?.data)
    case "tool-call":
      return ofJson(part.arguments)
    case "provider-item":
      return ofJson(part.opaque.data)
    default:
      return 0
  }
}

/** A signature counts. A text alone is the name of a field that thoughts came in. */
const ofMark = (data: unknown): number => (Predicate.isObject(data) ? ofJson(data) : 0)

/** The bytes of a whole reply. */
export const ofReply = ({ content }: Message.Reply): number => content.reduce((sum, part) => sum + ofContent(part), 0)

const ofContent = (part: Message.Reply["content"][number]): number => {
  switch (part.type) {
    case "text":
      return ofPart({ type: "text-delta", text: part.text })
    case "reasoning":
      return ofPart({ ...part, type: "reasoning-delta" })
    default:
      return ofPart(part)
  }
}
