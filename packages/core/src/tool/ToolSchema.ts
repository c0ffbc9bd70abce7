/** A schema as a model sees it, and as what a model has sent is read by it. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import type * as Message from "../data/Message.ts"
import * as RawSchema from "./RawSchema.ts"
import { modelSchema } from "./modelSchema.ts"
import { reader } from "./reading.ts"

export const jsonSchemaOf = (
  schema: Schema.Codec<unknown, unknown, unknown, unknown>
): Message.ToolSpec["parameters"] => {
  const raw = RawSchema.of(schema)
  if (raw !== undefined) return raw
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(modelSchema(schema), { onExcessProperty: "error" })
  // JSON Schema is JSON, and that of a schema is an object
  const json = flat(root as Schema.Json) as Message.ToolSpec["parameters"]
  return Predicate.isTruthy(Object.keys(definitions).length)
    ? { ...json, $defs: flat(definitions as Schema.Json) }
    : json
}

/** Remarks about a key stand in `allOf`, which some providers do not take: they belong to the value. */
const flat = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(flat)
  if (!Predicate.isObject(json)) return json
  const { allOf, ...others } = Object.fromEntries(
    Object.entries(json as Schema.JsonObject).map(([key, value]) => [key, flat(value)])
  )
  if (!Array.isArray(allOf)) return allOf === undefined ? others : { ...others, allOf }
  const isRemark = (member: Schema.Json) => Predicate.isObject(member) && Object.keys(member).join() === "description"
  const remarks = allOf.filter(isRemark).map((member) => String(member["description"]))
  const rest = allOf.filter((member) => !isRemark(member))
  const description = [...(Predicate.isString(others["description"]) ? [others["description"]] : []), ...remarks]
  return {
    ...others,
    ...(description.length === 0 ? {} : { description: description.join("\n") }),
    ...(rest.length === 0 ? {} : { allOf: rest })
  }
}

/**
 * The schema whose form as JSON is what a model is shown, and what it has to write.
 *
 * @internal
 */
export { modelSchema } from "./modelSchema.ts"

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
