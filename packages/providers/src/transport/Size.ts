/** Measures how large a reply is: the bytes of its texts, thoughts, calls and provider items in UTF-8, without the framing of the wire. */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"

/** The number of bytes of a text in UTF-8. */
export const ofText = (text: string): number => {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // a surrogate pair takes four bytes, so each of its two halves counts as two
    if (code >= 0x80) bytes += code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}

/** The size of a JSON value: the bytes of its names, texts and numbers, and one byte for each boolean or `null`. `undefined` has none. */
export const ofJson = (value: unknown): number => {
  if (Predicate.isString(value)) return ofText(value)
  if (Predicate.isNumber(value)) return String(value).length
  if (Array.isArray(value)) return value.reduce((sum: number, member) => sum + ofJson(member), 0)
  if (!Predicate.isObject(value)) return value === undefined ? 0 : 1
  return Object.entries(value).reduce((sum, [key, member]) => sum + ofText(key) + ofJson(member), 0)
}

/** The bytes of several parts of a stream together. */
export const ofParts = (parts: ReadonlyArray<Model.Part>): number => parts.reduce((sum, part) => sum + ofPart(part), 0)

/** The bytes of one part of a stream. */
export const ofPart = (part: Model.Part): number => {
  switch (part.type) {
    case "text-delta":
      return ofText(part.text)
    case "reasoning-delta":
      return ofText(part.text) + ofJson(part.opaque?.data)
    case "tool-call":
      return ofText(part.id) + ofText(part.name) + ofJson(part.arguments) + ofJson(part.opaque?.data)
    case "provider-item":
      return ofJson(part.opaque.data)
    default:
      return 0
  }
}

/** The bytes of a whole reply. */
export const ofReply = ({ content }: Message.Reply): number => content.reduce((sum, part) => sum + ofContent(part), 0)

const ofContent = (part: Message.Reply["content"][number]): number => {
  switch (part.type) {
    case "reasoning":
      return ofPart({ ...part, type: "reasoning-delta" })
    case "text":
      return ofPart({ type: "text-delta", text: part.text })
    default:
      return ofPart(part)
  }
}
