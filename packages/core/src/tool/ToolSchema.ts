/** A schema as a model sees it, and as what a model has sent is read by it. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import type * as Message from "../data/Message.ts"
import * as RawSchema from "./RawSchema.ts"
import { reader } from "./reading.ts"

export const jsonSchemaOf = (
  schema: Schema.Codec<unknown, unknown, unknown, unknown>
): Message.ToolSpec["parameters"] => {
  const raw = RawSchema.of(schema)
  if (raw !== undefined) return raw
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  // JSON Schema is JSON
  const json = root as Message.ToolSpec["parameters"]
  return Predicate.isTruthy(Object.keys(definitions).length) ? { ...json, $defs: definitions as Schema.Json } : json
}

/** Reads a value as the schema says, in the form that it has as JSON. */
export type Decode = (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue>

export const decoder = (schema: Schema.Codec<unknown, unknown>): Decode => {
  const read = reader(schema)
  return (value) => {
    const now = read(value)
    // what is an effect may end at once all the same; one that has to wait is a defect
    return Result.isResult(now) ? now : Effect.runSync(now)
  }
}
