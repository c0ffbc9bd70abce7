/**
 * Rewrites a JSON Schema in the keywords that Gemini documents for `responseJsonSchema` and takes for parameters. Any other keyword goes
 * into the description of the value, so that the model reads it.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"

type JsonSchema = Schema.JsonObject

export const adapted = (schema: JsonSchema): JsonSchema => {
  const supported: Record<string, Schema.Json> = {}
  const described: Record<string, Schema.Json> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (!silent.has(key)) (keywords.has(key) || key.startsWith("$") ? supported : described)[key] = inside(key, value)
  }
  const { $ref, description, ...others } = supported
  const words = [
    ...(Predicate.isString(description) && description !== "" ? [description] : []),
    ...(Object.keys(described).length === 0 ? [] : [`It fits this JSON Schema: ${JSON.stringify(described)}`])
  ].join("\n")
  const said = words === "" ? others : { ...others, description: words }
  // A reference allows no keyword beside it, but an `anyOf` with the reference in it does.
  if ($ref === undefined) return said
  return Object.keys(said).every((key) => key.startsWith("$")) ? supported : { ...said, anyOf: [{ $ref }] }
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

const keywords = new Set([
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

/** The keywords that restrict no value, so they are dropped. */
const silent = new Set(["$schema", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly"])
