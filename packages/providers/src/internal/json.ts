/** Reading of JSON that nobody vouches for: what is not there, or of another type, is `undefined`. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/** What is nested more deeply than anything means to be is not read: whoever writes it down again would reach the end of the stack. */
export const parse = (text: string): Result.Result<Schema.Json, unknown> => {
  try {
    // JSON.parse gives nothing but JSON
    const value = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Schema.Json
    // so many levels are opened and closed
    if (text.length >= 2 * maxDepth && isDeep(value, maxDepth)) return Result.fail(new Error("it is nested too deeply"))
    return Result.succeed(value)
  } catch (error) {
    return Result.fail(error)
  }
}

const byteOrderMark = "\uFEFF"

const maxDepth = 1000

const isDeep = (value: Schema.Json, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1)))

export const field = (value: Schema.Json | undefined, key: string): Schema.Json | undefined =>
  // an object within JSON holds JSON
  Predicate.isObject(value) && Object.hasOwn(value, key) ? (value[key] as Schema.Json) : undefined

/** The members of an object; none where it is none. */
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
