/** Encodes the arguments of a call for wire formats that demand an object. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/**
 * Makes an object of a call's arguments. An object stays, a JSON text with an object is parsed, and absent arguments become an empty
 * object. Any other value, such as invalid JSON, is wrapped in an object, so that the conversation can still be sent.
 */
export const of = (args: Schema.Json): Schema.Json => {
  if (args === null || args === "") return {}
  if (!Predicate.isString(args)) return isRecord(args) ? args : { arguments: args }
  const parsed = Json.parse(args)
  return Result.isSuccess(parsed) && isRecord(parsed.success) ? parsed.success : { arguments: args }
}

const isRecord = (value: Schema.Json): boolean => Predicate.isObject(value) && !Array.isArray(value)
