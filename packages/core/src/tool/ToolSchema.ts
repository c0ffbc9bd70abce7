/** A schema as a model sees it, and as what a model has sent is read by it. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as Message from "../data/Message.ts"
import { once } from "../data/Once.ts"
import { isOverflow } from "./overflow.ts"
import * as RawSchema from "./RawSchema.ts"

export const jsonSchemaOf = (schema: Schema.Codec<unknown, unknown>): Message.ToolSpec["parameters"] => {
  const raw = RawSchema.of(schema)
  if (raw !== undefined) return raw
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  // JSON Schema is JSON
  const json = root as Message.ToolSpec["parameters"]
  return Predicate.isTruthy(Object.keys(definitions).length) ? { ...json, $defs: definitions as Schema.Json } : json
}

/** Reads a value as the schema says, in the form that it has as JSON. */
export type Decode = (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue>

const strict = { errors: "all", onExcessProperty: "error" } as const

export const decoder = (schema: Schema.Codec<unknown, unknown>): Decode => {
  const decode = once(() => Schema.decodeUnknownExit(Schema.toCodecJson(schema), strict))
  return (value) => {
    const exit = decode()(value)
    if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
    const error = Cause.squash(exit.cause)
    if (Schema.isSchemaError(error)) return Result.fail(error.issue)
    if (isOverflow(error)) return Result.fail(tooDeep)
    throw error
  }
}

const tooDeep = new SchemaIssue.InvalidValue({ message: "Expected a value that is not nested so deeply" })
