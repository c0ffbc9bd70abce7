/** The part of JSON Schema that tool parameters are made of. */
import { isObject, type JsonObject } from "./Json.ts"
import type * as Schema from "effect/Schema"

export interface Field {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly nullable: boolean
  readonly schema: JsonObject
}

export type Kind = "string" | "number" | "integer" | "boolean" | "array" | "object" | "null" | "any"

const maxHops = 16

/** The schema behind references, `allOf`s of one member and optional wrappers: the first way that is not `null`. */
export const resolve = (schema: unknown, root: JsonObject): JsonObject => {
  let at: unknown = schema
  for (let hop = 0; hop < maxHops; hop++) {
    if (!isObject(at)) return {}
    const next = behind(at, root)
    if (next === undefined) return at
    at = next
  }
  return {}
}

const behind = (schema: JsonObject, root: JsonObject): Schema.Json | undefined => {
  if (typeof schema.$ref === "string") return followed(schema.$ref, root)
  for (const key of ["anyOf", "oneOf"]) {
    const ways = schema[key]
    if (Array.isArray(ways)) return ways.find((way) => !isObject(way) || way.type !== "null") ?? {}
  }
  if (Array.isArray(schema.allOf) && schema.type === undefined) return schema.allOf[0] ?? {}
  return undefined
}

const followed = (reference: string, root: JsonObject): Schema.Json => {
  let at: Schema.Json = root
  for (const step of reference.replace(/^#\/?/, "").split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
    if (key === "") continue
    const next: Schema.Json | undefined = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
    if (next === undefined) return {}
    at = next
  }
  return at
}

/** What a resolved schema asks for. */
export const kindOf = (schema: JsonObject): Kind => {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  const type = types.find((name) => name !== "null") ?? types[0]
  switch (type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
    case "array":
    case "object":
    case "null":
      return type
    default:
      return isObject(schema.properties) ? "object" : schema.items === undefined ? "any" : "array"
  }
}

/** The properties of a resolved object schema. */
export const fieldsOf = (schema: JsonObject, root: JsonObject): ReadonlyArray<Field> => {
  const { properties } = schema
  if (!isObject(properties)) return []
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  return Object.entries(properties).map(([name, own]) => ({
    name,
    description: isObject(own) && typeof own.description === "string" ? own.description : "",
    required: required.has(name),
    nullable: isNullable(own),
    schema: resolve(own, root)
  }))
}

const isNullable = (schema: Schema.Json): boolean => {
  if (!isObject(schema)) return false
  const { anyOf, type } = schema
  return (Array.isArray(type) && type.includes("null")) || (Array.isArray(anyOf) && anyOf.some(isNull))
}

const isNull = (schema: Schema.Json): boolean => isObject(schema) && schema.type === "null"

/** The closed set of values that a resolved schema admits, if it is one. */
export const choicesOf = (schema: JsonObject): ReadonlyArray<Schema.Json> | undefined =>
  Object.hasOwn(schema, "const")
    ? [schema.const ?? null]
    : Array.isArray(schema.enum) && schema.enum.length > 0
      ? schema.enum
      : undefined

/** Whether a value is itself a JSON Schema of an object. */
export const isSchema = (value: unknown): value is JsonObject =>
  isObject(value) && (typeof value.$schema === "string" || isObject(value.properties)) && kindOf(value) === "object"
