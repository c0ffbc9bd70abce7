/**
 * JSON Schema in the keywords that Gemini documents for `responseJsonSchema` and takes of parameters. What it has no keyword for is told
 * in the description of the value, so that the model knows of it.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

type JsonSchema = Schema.JsonObject

export const adapted = (schema: JsonSchema): JsonSchema => {
  const kept: Record<string, Schema.Json> = {}
  const told: Record<string, Schema.Json> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (!silent.has(key)) (known.has(key) || key.startsWith("$") ? kept : told)[key] = inside(key, value)
  }
  const { $ref, description, ...others } = kept
  const words = [
    ...(Predicate.isString(description) && description !== "" ? [description] : []),
    ...(Object.keys(told).length === 0 ? [] : [`It fits this JSON Schema: ${JSON.stringify(told)}`])
  ].join("\n")
  const said = words === "" ? others : { ...others, description: words }
  // beside a reference nothing may stand, but beside a list with it
  if ($ref === undefined) return said
  return Object.keys(said).every((key) => key.startsWith("$")) ? kept : { ...said, anyOf: [{ $ref }] }
}

const inside = (key: string, value: Schema.Json): Schema.Json => {
  if (ofOne.has(key)) return isObject(value) ? adapted(value) : value
  if (ofList.has(key)) return Json.items(value).map((member) => (isObject(member) ? adapted(member) : member))
  if (!ofNames.has(key) || !isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? adapted(schema) : schema])
  )
}

const isObject = (value: Schema.Json): value is JsonSchema => Json.object(value) !== undefined

const ofOne = new Set(["items", "additionalProperties"])
const ofList = new Set(["prefixItems", "anyOf", "oneOf"])
const ofNames = new Set(["properties", "$defs"])

const known = new Set([
  ...ofOne,
  ...ofList,
  ...ofNames,
  "type",
  "format",
  "title",
  "description",
  "enum",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "required"
])

/** They say nothing of the values. */
const silent = new Set(["$schema", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly"])
