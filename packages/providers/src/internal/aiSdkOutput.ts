/** What a tool of the AI SDK says to a model, as text. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

export interface Said {
  readonly text: string
  readonly isError: boolean
}

/** Without `toModelOutput`: a text as it is, anything else as JSON. */
export const plain = (value: unknown): string => {
  if (Predicate.isString(value)) return value
  const json = Result.try(() => JSON.stringify(value))
  return Result.isSuccess(json) && Predicate.isString(json.success) ? json.success : String(value)
}

/** Why a value cannot be written as JSON: it holds itself, or a number of any size, or its `toJSON` throws. */
export const unwritable = (value: unknown): { readonly cause: unknown } | undefined => {
  if (!Predicate.isObjectOrArray(value)) return undefined
  const json = Result.try(() => JSON.stringify(value))
  return Result.isFailure(json) ? { cause: json.failure } : undefined
}

/** What `toModelOutput` gave. */
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
  const type = Predicate.hasProperty(one, "type") ? String(one.type) : "part"
  const media = Predicate.hasProperty(one, "mediaType") ? `, ${String(one.mediaType)}` : ""
  return `[${type}${media}, not shown]`
}
