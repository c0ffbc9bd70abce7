/**
 * Rewrites JSON Schemas in the dialect of Anthropic's structured outputs, which closes objects and supports few constraints. The other
 * constraints go into the description, where the model reads them. A schema that the dialect cannot express, such as a record or a
 * recursive schema, is not sent.
 */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { objectRoot } from "../rootSchema.ts"

type JsonSchema = Model.OutputSpec["schema"]

/** The schema in Anthropic's dialect; `undefined` if the dialect cannot express it, or its root is no object. */
export const schemaOf = (schema: JsonSchema): JsonSchema | undefined => {
  const root = objectRoot(schema)
  return root === undefined || isRecursive(root) ? undefined : dialect(root)
}

/** The name of a definition, from the pointer that refers to it. */
const nameIn = (ref: string): string => {
  const name = ref.slice(ref.lastIndexOf("/") + 1)
  const decoded = Result.getOrElse(
    Result.try(() => decodeURIComponent(name)),
    () => name
  )
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~")
}

const dialect = (json: Schema.Json | undefined): JsonSchema | undefined => {
  const flat = flattened(json)
  if (flat === undefined) return undefined
  const said: Record<string, Schema.Json> = {}
  const described: Record<string, Schema.Json> = {}
  for (const [key, value] of Object.entries(flat)) {
    if (same.has(key)) said[key] = value
    else if (key === "properties" || key === "$defs") {
      const schemas = each(Object.entries(Json.fields(value)))
      if (schemas === undefined) return undefined
      said[key] = Object.fromEntries(schemas)
    } else if (key === "anyOf" || key === "oneOf") {
      const schemas = each(Json.items(value).map((item, index) => [String(index), item] as const))
      if (schemas === undefined) return undefined
      said["anyOf"] = schemas.map(([, schema]) => schema)
    } else if (key === "items") {
      const items = dialect(value)
      if (items === undefined) return undefined
      said[key] = items
    } else if (key === "format" ? isSupportedFormat(value) : key === "minItems" && (value === 0 || value === 1)) {
      said[key] = value
    } else if (constraints.has(key)) {
      if (!isOfEveryInteger(value)) described[key] = value
    } else if (!(key === "additionalProperties" && value === false) && !silent.has(key)) return undefined
  }
  if (!shapes.some((key) => key in said)) return undefined
  const description = [Json.text(flat["description"]), ...words(described)]
    .filter(Predicate.isNotUndefined)
    .join("\n\n")
  return {
    ...said,
    ...(description === "" ? {} : { description }),
    ...(said["type"] === "object" ? { properties: said["properties"] ?? {}, additionalProperties: false } : {})
  }
}

/** Merges the constraints of an `allOf` into the schema around it; `undefined` if the `allOf` holds anything but constraints. */
const flattened = (json: Schema.Json | undefined): JsonSchema | undefined => {
  if (!isSchema(json)) return undefined
  const { allOf, ...own } = json
  const more = Json.items(allOf).filter(isSchema)
  if (more.some((member) => !Object.keys(member).every((key) => constraints.has(key) || silent.has(key)))) {
    return undefined
  }
  return { ...Object.assign({}, ...more), ...own }
}

const isSchema = (json: Schema.Json | undefined): json is JsonSchema => Predicate.isObject(json)

const each = (
  entries: ReadonlyArray<readonly [string, Schema.Json]>
): ReadonlyArray<readonly [string, JsonSchema]> | undefined => {
  const schemas: Array<readonly [string, JsonSchema]> = []
  for (const [key, value] of entries) {
    const schema = dialect(value)
    if (schema === undefined) return undefined
    schemas.push([key, schema])
  }
  return schemas
}

const words = (described: Readonly<Record<string, Schema.Json>>): ReadonlyArray<string> =>
  Object.keys(described).length === 0 ? [] : [JSON.stringify(described)]

/** The keywords that the dialect takes unchanged. */
const same: ReadonlySet<string> = new Set(["type", "enum", "const", "required", "title", "$ref"])

/** The keywords that restrict values. A schema without any of them takes every value. */
const shapes: ReadonlyArray<string> = ["type", "enum", "const", "anyOf", "$ref"]

/** The keywords that restrict no value, so they are dropped. The description is written separately. */
const silent: ReadonlySet<string> = new Set(["description", "$schema", "$comment", "$id", "examples"])

const constraints: ReadonlySet<string> = new Set([
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "default"
])

const formats: ReadonlySet<string> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid"
])

const isSupportedFormat = (value: Schema.Json): boolean => Predicate.isString(value) && formats.has(value)

/** Whether a bound is the least or the greatest safe integer, as in the schema of an unbounded integer. */
const isOfEveryInteger = (value: Schema.Json): boolean =>
  value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER

/** Whether a definition of the schema refers to itself, directly or through others. */
const isRecursive = (schema: JsonSchema): boolean => {
  const { $defs, ...root } = schema
  const visiting = new Set<string>()
  const closed = new Set<string>()
  const visit = (json: unknown): boolean => {
    if (Array.isArray(json)) return json.some(visit)
    if (!Predicate.isObject(json)) return false
    const { $ref } = json
    return (Predicate.isString($ref) && enter($ref)) || Object.values(json).some(visit)
  }
  const enter = (ref: string): boolean => {
    if (ref === "#" || visiting.has(ref)) return true
    if (closed.has(ref)) return false
    visiting.add(ref)
    const found = visit(Json.field($defs, nameIn(ref)))
    visiting.delete(ref)
    closed.add(ref)
    return found
  }
  return visit(root)
}
