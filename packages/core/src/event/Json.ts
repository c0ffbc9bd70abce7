/** Converts values of any kind to JSON for events and snapshots. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { property, quietly } from "../data/Foreign.ts"
import { elided, maxDepth } from "./depth.ts"

/**
 * Converts any value to JSON. JSON stays as it is. Other values become their fields, their items, or the result of `toJSON`; a value
 * with none of these becomes its text. Texts of such values are redacted. Total; `undefined` for `undefined`.
 */
export const jsonOf = (value: unknown): Schema.Json | undefined => write(value, new Set(), false)

const write = (value: unknown, ancestors: Set<unknown>, isForeign: boolean): Schema.Json | undefined => {
  if (value === undefined || value === null || Predicate.isBoolean(value)) return value
  if (Predicate.isString(value)) return isForeign ? redacted(value) : value
  if (Predicate.isNumber(value) && Number.isFinite(value)) return value
  if (Predicate.isFunction(value)) return "[function]"
  if (!Predicate.isObjectOrArray(value)) return redacted(String(value))
  if (ancestors.has(value) || ancestors.size >= maxDepth) return elided
  ancestors.add(value)
  const written = quietly(() => structure(value, ancestors, isForeign), elided)
  ancestors.delete(value)
  return written
}

const structure = (value: object, ancestors: Set<unknown>, isForeign: boolean): Schema.Json | undefined => {
  if (Array.isArray(value)) return value.map((item) => write(item, ancestors, isForeign) ?? null)
  if (isPlain(value)) return fields(value, ancestors, isForeign)
  if (value instanceof Error) return ErrorCause.summarise(value)
  const toJson = property(value, "toJSON")
  if (Predicate.isFunction(toJson) && !ArrayBuffer.isView(value)) return write(toJson.call(value), ancestors, true)
  if (value instanceof Map || value instanceof Set) return write([...value], ancestors, true)
  return isOpaque(value) ? redacted(Object.prototype.toString.call(value)) : fields(value, ancestors, true)
}

const fields = (value: object, ancestors: Set<unknown>, isForeign: boolean): Schema.JsonObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      const written = write(field, ancestors, isForeign)
      return written === undefined ? [] : [[key, written] as const]
    })
  )

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Values without informative fields, which become their text. */
const isOpaque = (value: object): boolean => ArrayBuffer.isView(value) || Object.keys(value).length === 0

const redacted = (text: string): string => Redaction.foreign(text, Infinity)
