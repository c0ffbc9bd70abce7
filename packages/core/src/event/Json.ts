/** Values of any kind as they are written down: JSON as it is, the rest by what it says. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as ErrorCause from "../data/ErrorCause.ts"
import { KintsugiError } from "../errors/KintsugiError.ts"
import { property, quietly } from "../data/foreign.ts"

/** Deeper than anybody reads, and not as deep as a stack. */
const maxDepth = 500

const elided = "…"

/**
 * JSON is itself. Of anything else what JSON can hold: fields, items, what `toJSON` gives; whatever has none of it by its text.
 * Texts in there are masked. Total; nothing for `undefined`.
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

const masked = (text: string): string => ErrorCause.mask(text, Infinity)

const encode = SchemaGetter.transformOptional(Option.flatMap((value: unknown) => Option.fromUndefinedOr(jsonOf(value))))

/** A field that holds any value, `undefined` too. */
export const Value = Schema.optionalKey(Schema.Json).pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: SchemaGetter.transformOptional((json) => Option.some(Option.getOrUndefined(json))),
    encode
  })
)

/** A field that holds any value, or is not there. */
export const OptionalValue = Schema.optionalKey(Schema.Json).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Unknown), {
    decode: SchemaGetter.transformOptional((json: Option.Option<Schema.Json>): Option.Option<unknown> => json),
    encode
  })
)

/**
 * A field that holds an error: of this library it keeps its class, of another it is a summary. What looks like a credential is
 * masked wherever it stands in it, but for the conversation that it takes along.
 */
export const Failure = Schema.Json.pipe(
  Schema.decodeTo(
    ErrorCause.nested(() => KintsugiError),
    SchemaTransformation.transform({ decode: (json): Schema.Json => json, encode: (json): Schema.Json => hush(json) })
  )
)

const hush = (json: Schema.Json): Schema.Json => {
  if (Predicate.isString(json)) return masked(json)
  if (json === null || typeof json !== "object") return json
  if (isArray(json)) return json.map(hush)
  return Object.fromEntries(
    Object.entries(json).map(([key, field]) => [key, key === "transcript" ? field : hush(field)])
  )
}

// `Array.isArray` does not see arrays that are read-only
const isArray = (json: Schema.JsonArray | Schema.JsonObject): json is Schema.JsonArray => Array.isArray(json)
