/** The arguments of a call where the wire wants an object. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/**
 * The object itself, or the one that a text holds; nothing is an empty one. What is no object (a text that is no JSON, say,
 * which a model wrote and was told about) stands in one, so that the conversation can still be sent.
 */
export const of = (args: Schema.Json): Schema.Json => {
  if (args === null || args === "") return {}
  if (!Predicate.isString(args)) return isRecord(args) ? args : { arguments: args }
  const parsed = Json.parse(args)
  return Result.isSuccess(parsed) && isRecord(parsed.success) ? parsed.success : { arguments: args }
}

const isRecord = (value: Schema.Json): boolean => Predicate.isObject(value) && !Array.isArray(value)
