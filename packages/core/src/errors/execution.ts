/** What an `ExecutionError` draws from the failure beneath it. */
import * as Predicate from "effect/Predicate"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { type Category, type Lent, ofCategory, outlookOf } from "./facts.ts"
import { property, quietly } from "../data/Foreign.ts"

const isCategory = (value: unknown): value is Category => Predicate.isString(value) && Object.hasOwn(ofCategory, value)

/** Its own category where it has one; a model's failure and a broken contract are known by their class. */
export const categoryOf = (cause: unknown, isLlmError: (cause: unknown) => boolean): Category => {
  const category = property(cause, "category")
  if (isCategory(category)) return category
  if (quietly(() => isLlmError(cause), false)) return "llm"
  return ErrorCause.tagOf(cause) === "SchemaError" ? "validation" : "unknown"
}

export const categoryOfStatus = (status: number): Category => {
  if (status >= 400 && status < 500) return "client"
  return status >= 500 && status < 600 ? "server" : "unknown"
}

/** The code and the advice that a failure carries itself; `undefined` for one that carries neither. */
export const lentBy = (cause: unknown): Lent | undefined => {
  const own = property(cause, "code")
  const code = Predicate.isString(own) ? Redaction.foreign(own, 100) : ""
  const outlook = outlookOf(cause)
  if (code === "" && outlook === undefined) return undefined
  return { ...(code === "" ? {} : { code }), ...(outlook === undefined ? {} : { outlook }) }
}

/** What the cause says for itself; without a cause, the category. */
export const sayingOf = (cause: unknown, category: Category): string => {
  if (cause === undefined) return ofCategory[category].label
  const { message, name } = ErrorCause.summarise(cause)
  return message === "" ? name : message
}
