/** Reads token counts. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/**
 * A count; `undefined` if it is absent. A negative or infinite number makes the whole usage invalid, because no
 * addition outweighs it. The run then books an estimate (`Usage.isSound`).
 */
export const tokenCount = (value: Schema.Json | undefined): number | undefined =>
  Predicate.isNumber(value) ? (Json.count(value) ?? -Number.MAX_VALUE) : undefined
