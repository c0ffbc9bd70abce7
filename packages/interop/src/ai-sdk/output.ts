/** The text for a model from the result of an AI SDK tool. */
import * as Predicate from "effect/Predicate"

export interface Said {
  readonly text: string
  readonly isError: boolean
}

/**
 * Without `toModelOutput`: a text unchanged, other values as JSON; `undefined` as `null`, as in the SDK. Throws for
 * values that are not JSON: cycles, functions, bigints, or getters that throw.
 */
export const plain = (value: unknown = null): string => {
  if (Predicate.isString(value)) return value
  // The declared type lacks `undefined`.
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`no JSON can be made of this ${typeof value}`)
  return json
}

/** Reads the result of `toModelOutput`. Throws if it is unreadable. */
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
    case "content":
      return { text: Array.isArray(value) ? value.map(part).join("\n") : plain(value), isError: false }
    case "text":
    case "json":
      return { text: plain(value), isError: false }
    default:
      return { text: plain(output), isError: false }
  }
}

const part = (one: unknown): string => {
  if (Predicate.hasProperty(one, "text") && Predicate.isString(one.text)) return one.text
  const type = Predicate.hasProperty(one, "type") ? plain(one.type) : "part"
  const media = Predicate.hasProperty(one, "mediaType") ? `, ${plain(one.mediaType)}` : ""
  return `[${type}${media}, not shown]`
}
