/** Finds the reason why OpenAI refuses tools and schemas, for both of its formats. */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

export interface Given {
  readonly name: string
  readonly parameters: Schema.Json | undefined
  /** Whether the service enforces the schema. */
  readonly isStrict: boolean
}

/** The refusal in the service's own words. `isChosen`: whether the request has a tool choice, even the default. */
export const complaint = (
  tools: ReadonlyArray<Given>,
  isChosen: boolean,
  choice: Model.ToolChoice
): string | undefined => {
  if (isChosen && tools.length === 0) {
    return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
  }
  if (Predicate.isObject(choice) && !tools.some(({ name }) => name === choice.tool)) {
    return `Tool choice '${choice.tool}' not found in 'tools' parameter.`
  }
  for (const [index, { isStrict, name, parameters }] of tools.entries()) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      return `Invalid 'tools[${index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`
    }
    const found = isStrict ? loose(parameters, []) : undefined
    if (found !== undefined) return `Invalid schema for function '${name}': ${found}`
  }
  return undefined
}

/** The output format, as far as the service enforces it. */
export const Format = Schema.Struct({
  name: Schema.String,
  schema: Schema.JsonObject,
  strict: Schema.Literal(true)
})

export const badFormat = ({ name, schema }: typeof Format.Type): string | undefined => {
  const found = loose(schema, [])
  return found === undefined ? undefined : `Invalid schema for response_format '${name}': ${found}`
}

/** The first open object, or object with an optional field, of a schema: a strict schema has none. */
const loose = (schema: unknown, at: ReadonlyArray<string>): string | undefined => {
  if (Array.isArray(schema)) return firstOf(schema.map((each, index) => loose(each, [...at, String(index)])))
  if (!Predicate.isObject(schema)) return undefined
  const fields = Object.entries(schema)
  const where = `In context=(${at.map((step) => `'${step}'`).join(", ")})`
  const { additionalProperties, properties, required } = Object.fromEntries(fields)
  if (Predicate.isObject(properties)) {
    if (additionalProperties !== false) {
      return `${where}, 'additionalProperties' is required to be supplied and to be false.`
    }
    const missing = Object.keys(properties).find((name) => !Array.isArray(required) || !required.includes(name))
    if (missing !== undefined) {
      return `${where}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
    }
  }
  return firstOf(
    fields.map(([key, value]) =>
      holdsSchemas.has(key) && Predicate.isObject(value)
        ? firstOf(Object.entries(value).map(([name, each]) => loose(each, [...at, key, name])))
        : isSchema.has(key)
          ? loose(value, [...at, key])
          : undefined
    )
  )
}

/** Keywords with named schemas, and keywords with one schema or a list. */
const holdsSchemas = new Set(["properties", "$defs", "definitions"])
const isSchema = new Set(["items", "anyOf", "prefixItems"])

const firstOf = (found: ReadonlyArray<string | undefined>): string | undefined =>
  found.find((each) => each !== undefined)
