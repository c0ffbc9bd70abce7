/** Arguments of tool calls that are no JSON, from models that break their contract. Nothing of a run could write them down. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { isDeep } from "./Foreign.ts"

/** What stands in the place of arguments that are no JSON, or nested too deeply: no call with it runs. */
export const refused = {
  "(arguments that are no JSON)": "are no JSON",
  "(arguments that are nested too deeply)": "are nested too deeply"
} as const

/** JSON and texts as they are. A field that is `undefined` is left out, as it is where JSON is written. */
export const readable = (args: unknown): Schema.Json => {
  if (args === undefined || args === null) return null
  if (Predicate.isString(args)) return args
  // not `quietly`: every call comes through here, and this allocates nothing
  try {
    return isFlat(args) ? args : isDeep(args) ? "(arguments that are nested too deeply)" : jsonOf(args)
  } catch {
    return noJson
  }
}

/** Whether these are plain fields with texts and numbers, as those of most calls are. */
const isFlat = (args: unknown): args is Schema.JsonObject => {
  if (!Predicate.isObject(args) || Object.getPrototypeOf(args) !== Object.prototype) return false
  for (const key in args) {
    const value: unknown = args[key]
    if (!Predicate.isString(value) && !Predicate.isBoolean(value) && !Number.isFinite(value)) return false
  }
  return true
}

const noJson = "(arguments that are no JSON)"

const isJson = Schema.is(Schema.Json)

const jsonOf = (args: unknown): Schema.Json => {
  if (isJson(args)) return args
  const json: unknown = JSON.parse(JSON.stringify(args, strictly))
  return isJson(json) ? json : noJson
}

/** Throws on what would be written as something else. */
const strictly = (_: string, value: unknown): unknown => {
  if (
    Predicate.isFunction(value) ||
    Predicate.isSymbol(value) ||
    (Predicate.isNumber(value) && !Number.isFinite(value))
  ) {
    throw new TypeError("no JSON")
  }
  return value
}
