/** Reads the token counts of a usage. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/**
 * Reads a token count; `undefined` if it is absent. A negative or infinite number becomes a huge negative one, so that it makes the whole
 * usage invalid, because no addition outweighs it. The run then books an estimate (`Usage.isSound`).
 */
export const tokenCount = (value: Schema.Json | undefined): number | undefined =>
  Predicate.isNumber(value) ? (Json.count(value) ?? -Number.MAX_VALUE) : undefined
