/** Arguments of tool calls that are no JSON, from models that break their contract. Nothing of a run could write them down. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { isDeep, quietly } from "./Foreign.ts"

/** Replaces arguments that are no JSON, or nested too deeply: no call with it runs. */
export const refused = {
  "(arguments that are no JSON)": "are no JSON",
  "(arguments that are nested too deeply)": "are nested too deeply"
} as const

/** JSON and texts as they are. A field that is `undefined` is left out, as it is where JSON is written. */
export const readable = (args: unknown): Schema.Json => {
  if (args === undefined || args === null) return null
  if (Predicate.isString(args)) return args
  return quietly(
    () => (isDeep(args) ? "(arguments that are nested too deeply)" : jsonOf(args)),
    "(arguments that are no JSON)"
  )
}

const isJson = Schema.is(Schema.Json)

// JSON.parse returns nothing but JSON
const jsonOf = (args: unknown): Schema.Json =>
  isJson(args) ? args : (JSON.parse(JSON.stringify(args, strictly)) as Schema.Json)

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
