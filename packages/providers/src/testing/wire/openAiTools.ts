/** Checks tools and schemas as OpenAI does, for chat completions and Responses. */
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

export interface Given {
  readonly name: string
  readonly parameters: Schema.Json | undefined
  /** Whether the schema is strict, so that the service checks it. */
  readonly isStrict: boolean
}

/**
 * The error message with which OpenAI refuses tools or a tool choice; `undefined` if it accepts them. `isChosen` says whether the request
 * has a tool choice, even the default one.
 */
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

/** An output format with a strict schema, which the service checks. */
export const Format = Schema.Struct({
  name: Schema.String,
  schema: Schema.JsonObject,
  strict: Schema.Literal(true)
})

export const badFormat = ({ name, schema }: typeof Format.Type): string | undefined => {
  const found = loose(schema, [])
  return found === undefined ? undefined : `Invalid schema for response_format '${name}': ${found}`
}

/**
 * The error message for the first object in a schema that allows additional properties or has an optional field, because a strict schema
 * has neither.
 */
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

/** Schema keywords whose value is an object with a schema under each name. */
const holdsSchemas = new Set(["properties", "$defs", "definitions"])
const isSchema = new Set(["items", "anyOf", "prefixItems"])

const firstOf = (found: ReadonlyArray<string | undefined>): string | undefined =>
  found.find((each) => each !== undefined)
