/** Writes the values of parameters as OpenAPI declares it. */
import * as Predicate from "effect/Predicate"
import { isJsonObject } from "./pointer.ts"

/** A parameter of a request. */
export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly isRequired: boolean
  /** How it is written. `json` is for a parameter with a media type of its own. */
  readonly style: "simple" | "form" | "spaceDelimited" | "pipeDelimited" | "deepObject" | "json"
  readonly isExploded: boolean
}

const textOf = (value: unknown): string => (Predicate.isString(value) ? value : (JSON.stringify(value) ?? ""))

const separators = {
  simple: ",",
  form: ",",
  spaceDelimited: " ",
  pipeDelimited: "|",
  deepObject: ",",
  json: ","
} as const

/** The text of a value in a path or a header. */
export const simple = ({ isExploded, style }: Parameter, value: unknown): string => {
  if (style === "json") return JSON.stringify(value)
  if (Array.isArray(value)) return value.map(textOf).join(",")
  if (!isJsonObject(value)) return textOf(value)
  const entries = Object.entries(value)
  return entries.map(([key, item]) => `${key}${isExploded ? "=" : ","}${textOf(item)}`).join(",")
}

/** The pairs of a value in a query. */
export const pairs = (parameter: Parameter, value: unknown): ReadonlyArray<readonly [string, string]> => {
  const { isExploded, name, style } = parameter
  if (style === "json") return [[name, JSON.stringify(value)]]
  if (Array.isArray(value))
    return isExploded ? value.map((item) => [name, textOf(item)]) : [[name, value.map(textOf).join(separators[style])]]
  if (!isJsonObject(value)) return [[name, textOf(value)]]
  const entries = Object.entries(value)
  if (style === "deepObject") return entries.map(([key, item]) => [`${name}[${key}]`, textOf(item)])
  if (isExploded) return entries.map(([key, item]) => [key, textOf(item)])
  return [[name, entries.flatMap(([key, item]) => [key, textOf(item)]).join(separators[style])]]
}
