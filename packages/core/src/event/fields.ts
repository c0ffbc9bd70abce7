/** Schemas for event fields with values of any kind. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as CauseCodec from "../data/CauseCodec.ts"
import * as Redaction from "../data/Redaction.ts"
import { KintsugiError } from "../errors/KintsugiError.ts"
import { elided, maxDepth } from "./depth.ts"
import { jsonOf } from "./Json.ts"

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
 * A field with an error. An error of this library keeps its class; any other becomes a summary. Credentials are redacted everywhere in it,
 * except in its transcript.
 */
export const Failure = Schema.Json.pipe(
  Schema.decodeTo(
    CauseCodec.nested(() => KintsugiError),
    SchemaTransformation.transform({ decode: (json): Schema.Json => json, encode: (json): Schema.Json => hush(json) })
  )
)

const hush = (json: Schema.Json, levels = maxDepth): Schema.Json => {
  if (Predicate.isString(json)) return Redaction.foreign(json, Infinity)
  if (json === null || typeof json !== "object") return json
  if (levels === 0) return elided
  if (isArray(json)) return json.map((item) => hush(item, levels - 1))
  return Object.fromEntries(
    Object.entries(json).map(([key, field]) => [key, key === "transcript" ? field : hush(field, levels - 1)])
  )
}

// `Array.isArray` does not see arrays that are read-only
const isArray = (json: Schema.JsonArray | Schema.JsonObject): json is Schema.JsonArray => Array.isArray(json)
