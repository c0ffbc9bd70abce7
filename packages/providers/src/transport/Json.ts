/** Reads untrusted JSON. A value that is absent or has another type is read as `undefined`. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/**
 * Parses JSON, and cuts off values that are nested deeper than the arguments of any call may be. Calls with such arguments are still
 * refused, and a later `JSON.stringify` of the value does not overflow the stack.
 */
export const parse = (text: string): Result.Result<Schema.Json, unknown> => {
  try {
    // the type assertion holds because `JSON.parse` returns JSON
    const value = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Schema.Json
    // Each level of nesting takes at least two characters, so a shorter text cannot be too deep.
    // Mutant `true` survives: speed only
    const mayBeDeep = text.length >= 2 * maxDepth
    // Mutant `mayBeDeep || isDeep(value, maxDepth)` survives: speed only. What is not too deep is copied as it is
    return Result.succeed(mayBeDeep && isDeep(value, maxDepth) ? cut(value, maxDepth) : value)
  } catch (error) {
    return Result.fail(error)
  }
}

const byteOrderMark = "\uFEFF"

/** The deepest nesting that `parse` keeps. Arguments may have 1,000 levels; the other 100 are for the body around them. */
const maxDepth = 1100

/** The direct children of an array or object; none for any other value. */
const held = (value: Schema.Json): ReadonlyArray<Schema.Json> =>
  // the type assertion holds because the values within JSON are JSON
  Predicate.isObjectOrArray(value) ? (Object.values(value) as ReadonlyArray<Schema.Json>) : []

const isDeep = (value: Schema.Json, levels: number): boolean =>
  // Mutant `held(value).length > 0 || levels === 0 || held(value).some(item => isDeep(item, levels - 1))` survives: speed only, as above
  // Mutant `levels !== 0` survives: speed only, as above
  held(value).length > 0 && (levels === 0 || held(value).some((item) => isDeep(item, levels - 1)))

const cut = (value: Schema.Json, levels: number): Schema.Json => {
  const items = held(value)
  if (items.length === 0) return value
  if (levels === 0) return "nested too deeply"
  const members = items.map((item) => cut(item, levels - 1))
  // what is not an array is an object here, because only arrays and objects have children
  return Array.isArray(value)
    ? members
    : Object.fromEntries(Object.keys(value as object).map((key, at) => [key, members[at] ?? null]))
}

export const field = (value: Schema.Json | undefined, key: string): Schema.Json | undefined =>
  // the type assertion holds because the fields of an object within JSON are JSON
  Predicate.isObject(value) && Object.hasOwn(value, key) ? (value[key] as Schema.Json) : undefined

/** The fields of an object; none for an array or any other value. */
export const fields = (value: Schema.Json | undefined): Readonly<Record<string, Schema.Json>> =>
  Predicate.isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).map((key) => [key, field(value, key) ?? null]))
    : {}

export const text = (value: Schema.Json | undefined): string | undefined =>
  Predicate.isString(value) && value !== "" ? value : undefined

export const object = (value: Schema.Json | undefined): Schema.JsonObject | undefined =>
  // the type assertion holds because the fields of an object within JSON are JSON
  Predicate.isObject(value) && !Array.isArray(value) ? (value as Schema.JsonObject) : undefined

export const items = (value: Schema.Json | undefined): ReadonlyArray<Schema.Json> => (Array.isArray(value) ? value : [])

/** A number that can be a count, finite and not negative; `undefined` for any other value. */
export const count = (value: Schema.Json | undefined): number | undefined =>
  Predicate.isNumber(value) && Number.isFinite(value) && value >= 0 ? value : undefined
