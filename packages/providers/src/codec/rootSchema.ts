/** Rewrites JSON Schemas so that their root is an object: providers take no others for tools and outputs. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

type JsonSchema = Schema.JsonObject

/** The schema with an object at its root. `undefined` if the schema describes another type. */
export const objectRoot = (schema: JsonSchema): JsonSchema | undefined => {
  const { $defs, $ref, not, ...others } = schema
  // Effect's schema of a struct without fields says "not null".
  if (schema["type"] === undefined && Json.field(not, "type") === "null") return { ...others, ...emptyObject }
  if ($ref === undefined) return schema["type"] === "object" ? schema : undefined
  const root = definition($defs, $ref)
  return root?.["type"] === "object" && $defs !== undefined ? { ...root, ...others, $defs } : undefined
}

const emptyObject: JsonSchema = { type: "object", properties: {}, required: [], additionalProperties: false }

/** The definition to which a reference points; `undefined` if there is none. */
export const definition = ($defs: Schema.Json | undefined, $ref: Schema.Json): JsonSchema | undefined => {
  if (!Predicate.isString($ref) || !$ref.startsWith(prefix)) return undefined
  const pointer = $ref.slice(prefix.length)
  const name = Result.getOrElse(
    Result.try(() => decodeURIComponent(pointer)),
    () => pointer
  )
  return Json.object(Json.field($defs, name.replaceAll("~1", "/").replaceAll("~0", "~")))
}

const prefix = "#/$defs/"

/**
 * The schema of a tool's parameters, with an object at its root, because arguments are always objects. No provider takes a union at the
 * root: a union of objects becomes one object that each member fits, and its description states the union. Members that are no objects are
 * left out. Arguments that do not fit are reported to the model when they are decoded. `undefined` if no object fits the schema.
 */
export const parametersRoot = (schema: JsonSchema): JsonSchema | undefined => {
  const { $defs, ...root } = schema
  const found = rootOf(root, $defs, new Set())
  return found === undefined || $defs === undefined ? found : { ...found, $defs }
}

const rootOf = (
  schema: JsonSchema,
  $defs: Schema.Json | undefined,
  seen: ReadonlySet<Schema.Json>
): JsonSchema | undefined => {
  const { $ref, anyOf, oneOf, ...others } = schema
  if ($ref !== undefined) {
    const target = seen.has($ref) ? undefined : definition($defs, $ref)
    return target === undefined ? undefined : rootOf({ ...target, ...others }, $defs, new Set([...seen, $ref]))
  }
  const plain = objectRoot(schema)
  if (plain !== undefined) return plain
  const choice = Json.items(anyOf ?? oneOf)
  if (choice.length === 0) return restricting.some((key) => key in schema) ? undefined : { ...schema, type: "object" }
  const members = choice.flatMap((member): ReadonlyArray<JsonSchema> => {
    const inner = Json.object(member)
    const root = inner === undefined ? undefined : rootOf(inner, $defs, seen)
    return root === undefined ? [] : [root]
  })
  const [only, ...more] = members
  return only === undefined || more.length > 0 ? oneFor(members, others) : { ...only, ...others, type: "object" }
}

/** The keywords that restrict values. A schema without any of them takes every value. */
const restricting = ["type", "enum", "const", "allOf", "not", "anyOf", "oneOf"]

/** One object schema that the values of all members fit; `undefined` if there are no members. */
const oneFor = (members: ReadonlyArray<JsonSchema>, { description }: JsonSchema): JsonSchema | undefined => {
  if (members.length === 0) return undefined
  const choices = new Map<string, Map<string, Schema.Json>>()
  for (const { properties } of members) {
    for (const [name, property] of Object.entries(Json.object(properties) ?? {})) {
      const variants = choices.get(name) ?? new Map<string, Schema.Json>()
      choices.set(name, variants.set(JSON.stringify(property), property))
    }
  }
  const properties = [...choices].map(([name, variants]): readonly [string, Schema.Json] => {
    const [first = {}, ...more] = variants.values()
    return [name, more.length === 0 ? first : { anyOf: [first, ...more] }]
  })
  const required = [...choices.keys()].filter((name) =>
    members.every((member) => Json.items(member["required"]).includes(name))
  )
  const note = `The arguments fit one of these JSON Schemas: ${JSON.stringify(members)}`
  return {
    type: "object",
    description: Predicate.isString(description) ? `${description}\n\n${note}` : note,
    properties: Object.fromEntries(properties),
    required,
    ...(members.every((member) => member["additionalProperties"] === false) ? { additionalProperties: false } : {})
  }
}
