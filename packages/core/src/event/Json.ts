/** Values of any kind as they are written down: JSON as it is, the rest by what it says. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { property, quietly } from "../data/Foreign.ts"
import { elided, maxDepth } from "./depth.ts"

/**
 * JSON stays as it is. Other values become what JSON can hold: fields, items, or the result of `toJSON`; a value with none of these becomes its text.
 * Texts in there are redacted. Total; `undefined` for `undefined`.
 */
export const jsonOf = (value: unknown): Schema.Json | undefined => write(value, new Set(), false)

const write = (value: unknown, above: Set<unknown>, isForeign: boolean): Schema.Json | undefined => {
  if (value === undefined || value === null || Predicate.isBoolean(value)) return value
  if (Predicate.isString(value)) return isForeign ? masked(value) : value
  if (Predicate.isNumber(value) && Number.isFinite(value)) return value
  if (Predicate.isFunction(value)) return "[function]"
  if (!Predicate.isObjectOrArray(value)) return masked(quietly(() => String(value), ""))
  if (above.has(value) || above.size >= maxDepth) return elided
  above.add(value)
  const written = quietly(() => structure(value, above, isForeign), elided)
  above.delete(value)
  return written
}

const structure = (value: object, above: Set<unknown>, isForeign: boolean): Schema.Json | undefined => {
  if (Array.isArray(value)) return value.map((item) => write(item, above, isForeign) ?? null)
  if (isPlain(value)) return fields(value, above, isForeign)
  if (value instanceof Error) return ErrorCause.summarise(value)
  const toJson = property(value, "toJSON")
  if (Predicate.isFunction(toJson) && !ArrayBuffer.isView(value)) return write(toJson.call(value), above, true)
  if (value instanceof Map || value instanceof Set) return write([...value], above, true)
  return isOpaque(value) ? masked(Object.prototype.toString.call(value)) : fields(value, above, true)
}

const fields = (value: object, above: Set<unknown>, isForeign: boolean): Schema.JsonObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      const written = write(field, above, isForeign)
      return written === undefined ? [] : [[key, written] as const]
    })
  )

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** What no field tells anything about. */
const isOpaque = (value: object): boolean => ArrayBuffer.isView(value) || Object.keys(value).length === 0

const masked = (text: string): string => Redaction.foreign(text, Infinity)
