/**
 * JSON Schemas as the provider's structured outputs take them: objects are closed, and of the constraints on values only a
 * few are known. The others are told in the description, where the model reads them. What cannot be said at all, a record or
 * a schema that contains itself, is left out as a whole.
 */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { objectRoot } from "../rootSchema.ts"

type JsonSchema = Model.OutputSpec["schema"]

/** The schema in the provider's dialect, or `undefined` where the dialect cannot say it. Only objects are taken. */
export const schemaOf = (schema: JsonSchema): JsonSchema | undefined => {
  const root = objectRoot(schema)
  return root === undefined || isRecursive(root) ? undefined : dialect(root)
}

/** The name at the end of a pointer. */
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
  const told: Record<string, Schema.Json> = {}
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
    } else if (key === "format" ? isKnownFormat(value) : key === "minItems" && (value === 0 || value === 1)) {
      said[key] = value
    } else if (constraints.has(key)) {
      if (!isOfEveryInteger(value)) told[key] = value
    } else if (!(key === "additionalProperties" && value === false) && !silent.has(key)) return undefined
  }
  if (!shapes.some((key) => key in said)) return undefined
  const description = [Json.text(flat["description"]), ...words(told)].filter(Predicate.isNotUndefined).join("\n\n")
  return {
    ...said,
    ...(description === "" ? {} : { description }),
    ...(said["type"] === "object" ? { properties: said["properties"] ?? {}, additionalProperties: false } : {})
  }
}

/** Constraints that stand beside each other in `allOf` belong to the schema itself; anything else there cannot be said. */
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

const words = (told: Readonly<Record<string, Schema.Json>>): ReadonlyArray<string> =>
  Object.keys(told).length === 0 ? [] : [JSON.stringify(told)]

/** What is said in the same words. */
const same: ReadonlySet<string> = new Set(["type", "enum", "const", "required", "title", "$ref"])

/** One of these says what a value is. */
const shapes: ReadonlyArray<string> = ["type", "enum", "const", "anyOf", "$ref"]

/** What restricts no value. The description is put in its place later. */
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

const isKnownFormat = (value: Schema.Json): boolean => Predicate.isString(value) && formats.has(value)

/** The bounds of a whole number that has none. */
const isOfEveryInteger = (value: Schema.Json): boolean =>
  value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER

/** Whether a definition contains itself. */
const isRecursive = (schema: JsonSchema): boolean => {
  const { $defs, ...root } = schema
  const open = new Set<string>()
  const closed = new Set<string>()
  const visit = (json: unknown): boolean => {
    if (Array.isArray(json)) return json.some(visit)
    if (!Predicate.isObject(json)) return false
    const { $ref } = json
    return (Predicate.isString($ref) && enter($ref)) || Object.values(json).some(visit)
  }
  const enter = (ref: string): boolean => {
    if (ref === "#" || open.has(ref)) return true
    if (closed.has(ref)) return false
    open.add(ref)
    const found = visit(Json.field($defs, nameIn(ref)))
    open.delete(ref)
    closed.add(ref)
    return found
  }
  return visit(root)
}
