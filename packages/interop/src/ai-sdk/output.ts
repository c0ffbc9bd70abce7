/** Makes the text that a model reads of the result of an AI SDK tool. */
import * as Message from "@kintsugi/core/Message"
import * as Predicate from "effect/Predicate"

export interface Said {
  readonly text: string
  readonly isError: boolean
  /** The parts of the content in their order, if any of them is an image or a file. */
  readonly parts?: Message.UserContent
}

/**
 * The text of a result without `toModelOutput`. A text stays unchanged, other values become JSON, and `undefined` becomes `null`, as in the
 * SDK. Throws for values that are not JSON: cycles, functions, bigints, or getters that throw.
 */
export const plain = (value: unknown = null): string => {
  if (Predicate.isString(value)) return value
  // `JSON.stringify` may give `undefined`, which its declared type does not say.
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`no JSON can be made of this ${typeof value}`)
  return json
}

/** Reads the output of `toModelOutput`. Throws if it cannot be written as JSON. */
export const said = (output: unknown): Said => {
  const type = Predicate.hasProperty(output, "type") ? output.type : undefined
  const value = Predicate.hasProperty(output, "value") ? output.value : undefined
  switch (type) {
    case "error-text":
    case "error-json":
      return { text: plain(value), isError: true }
    case "execution-denied": {
      const reason = Predicate.hasProperty(output, "reason") ? output.reason : undefined
      return { text: Predicate.isString(reason) ? reason : "the call was denied", isError: true }
    }
    case "content": {
      if (!Array.isArray(value)) return { text: plain(value), isError: false }
      const parts = value.map(part)
      const text = parts.flatMap((one) => (one.type === "text" ? one.text : [])).join("\n")
      return { text, isError: false, ...(parts.every(({ type }) => type === "text") ? {} : { parts }) }
    }
    case "text":
    case "json":
      return { text: plain(value), isError: false }
    default:
      return { text: plain(output), isError: false }
  }
}

/** Reads one part of the content. Versions of the SDK have different types for images and files, so it looks at the fields. */
const part = (one: unknown): Message.UserContent[number] => {
  const text = field(one, "text")
  if (text !== undefined) return Message.text(text)
  const type = Predicate.hasProperty(one, "type") ? plain(one.type) : "part"
  const mediaType = field(one, "mediaType")
  const [data = "", url = ""] = [field(one, "data"), field(one, "url")]
  if (data === "" && url === "") {
    return Message.text(`[${type}${mediaType === undefined ? "" : `, ${mediaType}`}, not shown]`)
  }
  const from = data === "" ? { url } : { data }
  const isImage = type.startsWith("image") || mediaType?.startsWith("image/") === true
  return isImage
    ? Message.image(mediaType ?? "image/png", from)
    : Message.file(mediaType ?? "application/octet-stream", from, field(one, "filename"))
}

const field = (value: unknown, key: string): string | undefined => {
  const found = Predicate.hasProperty(value, key) ? value[key] : undefined
  return Predicate.isString(found) ? found : undefined
}
