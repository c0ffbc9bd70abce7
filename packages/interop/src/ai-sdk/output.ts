/** What a tool of the AI SDK says to a model, as text. */
import * as Predicate from "effect/Predicate"

export interface Said {
  readonly text: string
  readonly isError: boolean
}

/**
 * Without `toModelOutput`: a text as it is, anything else as JSON; nothing is `null`, as the SDK has it. Throws for what is no
 * JSON: what holds itself, a function, a number of any size, or what throws when it is read.
 */
export const plain = (value: unknown = null): string => {
  if (Predicate.isString(value)) return value
  // typed as a text always, which it is not
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`no JSON can be made of this ${typeof value}`)
  return json
}

/** What `toModelOutput` gave. Throws where that cannot be read. */
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
