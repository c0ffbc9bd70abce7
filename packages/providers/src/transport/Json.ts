/** Reads untrusted JSON: an absent value, or one of another type, is `undefined`. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/**
 * Parses JSON, and cuts off values nested deeper than the arguments of any call may be. Such calls are still denied,
 * and a later `JSON.stringify` of the value does not overflow the stack.
 */
export const parse = (text: string): Result.Result<Schema.Json, unknown> => {
  try {
    // JSON.parse returns JSON
    const value = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Schema.Json
    // Each level needs two characters.
    const mayBeDeep = text.length >= 2 * maxDepth
    return Result.succeed(mayBeDeep && isDeep(value, maxDepth) ? cut(value, maxDepth) : value)
  } catch (error) {
    return Result.fail(error)
  }
}

const byteOrderMark = "\uFEFF"

/** Arguments may have 1,000 levels; the rest is for the body around them. */
const maxDepth = 1100

/** The direct children of a value. */
const held = (value: Schema.Json): ReadonlyArray<Schema.Json> =>
  // values within JSON are JSON
  Predicate.isObjectOrArray(value) ? (Object.values(value) as ReadonlyArray<Schema.Json>) : []

const isDeep = (value: Schema.Json, levels: number): boolean =>
  held(value).length > 0 && (levels === 0 || held(value).some((item) => isDeep(item, levels - 1)))

const cut = (value: Schema.Json, levels: number): Schema.Json => {
  const items = held(value)
  if (items.length === 0) return value
  if (levels === 0) return "nested too deeply"
  const members = items.map((item) => cut(item, levels - 1))
  // an object, because it is not an array
  return Array.isArray(value)
    ? members
    : Object.fromEntries(Object.keys(value as object).map((key, at) => [key, members[at] ?? null]))
}

export const field = (value: Schema.Json | undefined, key: string): Schema.Json | undefined =>
  // an object within JSON holds JSON
  Predicate.isObject(value) && Object.hasOwn(value, key) ? (value[key] as Schema.Json) : undefined

/** The members of an object; none for another value. */
export const fields = (value: Schema.Json | undefined): Readonly<Record<string, Schema.Json>> =>
  Predicate.isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).map((key) => [key, field(value, key) ?? null]))
    : {}

export const text = (value: Schema.Json | undefined): string | undefined =>
  Predicate.isString(value) && value !== "" ? value : undefined

export const object = (value: Schema.Json | undefined): Schema.JsonObject | undefined =>
  // an object within JSON holds JSON
  Predicate.isObject(value) && !Array.isArray(value) ? (value as Schema.JsonObject) : undefined

export const items = (value: Schema.Json | undefined): ReadonlyArray<Schema.Json> => (Array.isArray(value) ? value : [])

/** A count of something: finite and not negative. */
export const count = (value: Schema.Json | undefined): number | undefined =>
  Predicate.isNumber(value) && Number.isFinite(value) && value >= 0 ? value : undefined
