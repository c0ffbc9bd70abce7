/**
 * JSON Schema in OpenAI's strict dialect, which keeps a model from writing a value that does not fit: objects are
 * closed, all of their properties are required, and few keywords are supported.
 *
 * An optional property becomes one that may be `null`, which is read as absent when the arguments are decoded (the
 * step `drop-empty` of `Coercion`). A property that may already be `null` would become ambiguous, so such a schema is
 * not strict.
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"
import { definition, objectRoot } from "./rootSchema.ts"

type JsonSchema = Schema.JsonObject

export interface Options {
  /** Whether an absent property may be written as `null`. If not, a schema with optional properties has no strict form. */
  readonly optional: boolean
}

/** The schema in the strict dialect; `undefined` if the dialect cannot express it. */
export const strict = (schema: JsonSchema, options: Options): JsonSchema | undefined => {
  const root = objectRoot(schema)
  if (root === undefined) return undefined
  const strictly = new Strictly(schema["$defs"], options)
  const converted = strictly.root(root)
  return strictly.isSmallEnough ? converted : undefined
}

/** The limits of one schema, as OpenAI documents them. */
const most = { depth: 10, properties: 5000, values: 1000, characters: 120_000 }

/** One conversion of a schema, which counts what OpenAI limits. */
class Strictly {
  readonly #defs: Schema.Json | undefined
  readonly #options: Options
  #depth = 0
  #properties = 0
  #values = 0
  #characters = 0

  constructor($defs: Schema.Json | undefined, options: Options) {
    this.#defs = $defs
    this.#options = options
  }

  get isSmallEnough(): boolean {
    return (
      this.#depth <= most.depth &&
      this.#properties <= most.properties &&
      this.#values <= most.values &&
      this.#characters <= most.characters
    )
  }

  root({ $defs, ...schema }: JsonSchema): JsonSchema | undefined {
    const root = this.#schema(schema, 0)
    if ($defs === undefined) return root
    const defs = this.#each($defs, 0)
    return root === undefined || defs === undefined ? undefined : { ...root, $defs: defs }
  }

  /** Converts a schema. `undefined` if the value is no schema, or has a keyword that the dialect does not support. */
  #schema(given: Schema.Json | undefined, depth: number): JsonSchema | undefined {
    const schema = Json.object(given)
    if (schema === undefined) return undefined
    this.#depth = Math.max(this.#depth, depth)
    const converted: Record<string, Schema.Json> = {}
    for (const [key, value] of Object.entries(schema)) {
      if (dropped.has(key)) continue
      const after = this.#keyword(key, value, depth)
      if (after === undefined) return undefined
      converted[key] = after
    }
    if (!shapes.some((key) => key in converted)) return undefined
    if (says(schema, "object")) return this.#closed(schema, converted)
    // A reference allows no keyword beside it, but an `anyOf` with the reference in it does.
    const { $ref, ...others } = converted
    return $ref === undefined || Object.keys(others).length === 0 ? converted : { ...others, anyOf: [{ $ref }] }
  }

  #keyword(key: string, value: Schema.Json, depth: number): Schema.Json | undefined {
    switch (key) {
      case "properties":
        return this.#each(value, depth + 1)
      case "items":
        return this.#schema(value, depth + 1)
      case "anyOf": {
        const members = Json.items(value).map((member) => this.#schema(member, depth))
        return members.every(Predicate.isNotUndefined) && members.length > 0 ? members : undefined
      }
      case "$ref":
        return definition(this.#defs, value) === undefined ? undefined : value
      case "additionalProperties":
        return value === false ? value : undefined
      case "format":
        return formats.has(value) ? value : undefined
      case "pattern":
        return Predicate.isString(value) && !lookAround.test(value) ? value : undefined
      case "enum":
        this.#values += Json.items(value).length
        this.#characters += JSON.stringify(value).length
        return value
      default:
        return keywords.has(key) ? value : undefined
    }
  }

  #each(given: Schema.Json, depth: number): JsonSchema | undefined {
    const schemas = Json.object(given)
    if (schemas === undefined) return undefined
    const converted: Record<string, Schema.Json> = {}
    for (const [name, schema] of Object.entries(schemas)) {
      const after = this.#schema(schema, depth)
      if (after === undefined) return undefined
      this.#characters += name.length
      converted[name] = after
    }
    return converted
  }

  /** Makes all properties of an object required. Optional ones may then be `null`. */
  #closed(schema: JsonSchema, converted: JsonSchema): JsonSchema | undefined {
    if (schema["additionalProperties"] !== false) return undefined
    const required = new Set(Json.items(schema["required"]))
    const properties: Record<string, Schema.Json> = {}
    for (const [name, property] of Object.entries(Json.object(converted["properties"]) ?? {})) {
      this.#properties += 1
      if (required.has(name)) properties[name] = property
      else {
        const given = Json.field(schema["properties"], name)
        if (!this.#options.optional || this.#admitsNull(given, new Set())) return undefined
        properties[name] = { anyOf: [property, { type: "null" }] }
      }
    }
    return { ...converted, properties, required: Object.keys(properties) }
  }

  #admitsNull(given: Schema.Json | undefined, seen: Set<Schema.Json>): boolean {
    const schema = Json.object(given)
    if (schema === undefined || seen.has(schema)) return false
    seen.add(schema)
    const { $ref, anyOf } = schema
    return (
      says(schema, "null") ||
      schema["const"] === null ||
      Json.items(schema["enum"]).includes(null) ||
      Json.items(anyOf).some((member) => this.#admitsNull(member, seen)) ||
      ($ref !== undefined && this.#admitsNull(definition(this.#defs, $ref), seen))
    )
  }
}

const says = ({ type }: JsonSchema, name: string): boolean => type === name || Json.items(type).includes(name)

/** The keywords that restrict values. A schema without any of them takes every value. */
const shapes = ["type", "enum", "const", "anyOf", "$ref"]

const keywords: ReadonlySet<string> = new Set([
  "type",
  "const",
  "required",
  "title",
  "description",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems"
])

/** The keywords that restrict no value, so they can be dropped. */
const dropped: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly"
])

const formats: ReadonlySet<Schema.Json> = new Set<Schema.Json>([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid"
])

const lookAround = /\(\?<?[=!]/
