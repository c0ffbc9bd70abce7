/** Counts of tokens, as bodies tell them. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

/**
 * A count; `undefined` where none is told. A negative or infinite number makes the whole usage negative, as nothing that is added
 * outweighs it: the run books an estimate then (`Usage.isSound`).
 */
export const tokenCount = (value: Schema.Json | undefined): number | undefined =>
  Predicate.isNumber(value) ? (Json.count(value) ?? -Number.MAX_VALUE) : undefined
