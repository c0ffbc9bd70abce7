/** Tool call arguments that are no JSON, from models that break their contract. Snapshots and events cannot store them. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { isDeep, quietly } from "./Foreign.ts"

/** Replaces arguments that are no JSON, or are nested too deeply. A call with this value never runs. */
export const refused = {
  "(arguments that are no JSON)": "are no JSON",
  "(arguments that are nested too deeply)": "are nested too deeply"
} as const

/**
 * Makes JSON of the arguments of a call. Texts and JSON stay; fields that are `undefined` are left out, as `JSON.stringify` does. A text
 * replaces arguments that are too deep or no JSON.
 */
export const readable = (args: unknown): Schema.Json => {
  if (args === undefined) return null
  return quietly(
    () => (isDeep(args) ? "(arguments that are nested too deeply)" : jsonOf(args)),
    "(arguments that are no JSON)"
  )
}

const isJson = Schema.is(Schema.Json)

// JSON.parse returns nothing but JSON
const jsonOf = (args: unknown): Schema.Json =>
  isJson(args) ? args : (JSON.parse(JSON.stringify(args, strictly)) as Schema.Json)

/** A replacer for `JSON.stringify` that throws on values which JSON would change: functions, symbols, `NaN` and infinities. */
const strictly = (_: string, value: unknown): unknown => {
  if (
    Predicate.isFunction(value) ||
    Predicate.isSymbol(value) ||
    (Predicate.isNumber(value) && !Number.isFinite(value))
  ) {
    // Mutant `""` survives: another text replaces the message
    throw new TypeError("no JSON")
  }
  return value
}
