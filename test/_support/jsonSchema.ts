/** JSON Schema (draft 2020-12) as its text says it, apart from any library: the keywords that Effect writes, without formats. */
import type { Schema } from "effect"

type Json = Schema.Json
type Node = Readonly<Record<string, Json>>

const isObject = (value: Json | undefined): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])
const same = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other)

const types: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isObject
}

/** Whether a value fits a schema. A keyword that is not known throws. */
export const validates = (schema: Json, value: Json, root: Json = schema): boolean => {
  if (!isObject(schema)) return schema === true
  return Object.entries(schema).every(([key, wanted]) => {
    const says = keywords[key]
    if (says === undefined) throw new Error(`the keyword ${key} is not known`)
    return says(value, wanted, schema, (schema, value) => validates(schema, value, root), root)
  })
}

type Says = (
  value: Json,
  wanted: Json,
  schema: Node,
  fits: (schema: Json, value: Json) => boolean,
  root: Json
) => boolean

const always: Says = () => true
const ofText =
  (says: (text: string, wanted: Json) => boolean): Says =>
  (value, wanted) =>
    typeof value !== "string" || says(value, wanted)
const ofNumber =
  (says: (number: number, wanted: number) => boolean): Says =>
  (value, wanted) =>
    typeof value !== "number" || says(value, Number(wanted))
const ofList =
  (
    says: (
      list: ReadonlyArray<Json>,
      wanted: Json,
      schema: Node,
      fits: (schema: Json, value: Json) => boolean
    ) => boolean
  ): Says =>
  (value, wanted, schema, fits) =>
    !Array.isArray(value) || says(value, wanted, schema, fits)

const keywords: Readonly<Record<string, Says>> = {
  $defs: always,
  title: always,
  description: always,
  format: always,
  contentEncoding: always,
  type: (value, wanted) => types[String(wanted)]?.(value) === true,
  enum: (value, wanted) => listOf(wanted).some((member) => same(member, value)),
  const: (value, wanted) => same(value, wanted),
  not: (value, wanted, _schema, fits) => !fits(wanted, value),
  anyOf: (value, wanted, _schema, fits) => listOf(wanted).some((schema) => fits(schema, value)),
  allOf: (value, wanted, _schema, fits) => listOf(wanted).every((schema) => fits(schema, value)),
  $ref: (value, wanted, _schema, fits, root) => {
    const path = String(wanted).replace("#/", "").split("/")
    const target = path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), root)
    return target !== undefined && fits(target, value)
  },
  pattern: ofText((text, wanted) => new RegExp(String(wanted), "u").test(text)),
  minLength: ofText((text, wanted) => text.length >= Number(wanted)),
  maxLength: ofText((text, wanted) => text.length <= Number(wanted)),
  minimum: ofNumber((number, wanted) => number >= wanted),
  maximum: ofNumber((number, wanted) => number <= wanted),
  exclusiveMinimum: ofNumber((number, wanted) => number > wanted),
  exclusiveMaximum: ofNumber((number, wanted) => number < wanted),
  minItems: ofList((list, wanted) => list.length >= Number(wanted)),
  maxItems: ofList((list, wanted) => list.length <= Number(wanted)),
  prefixItems: ofList((list, wanted, _schema, fits) =>
    listOf(wanted).every((schema, index) => list[index] === undefined || fits(schema, list[index]))
  ),
  items: ofList((list, wanted, schema, fits) =>
    list.slice(listOf(schema["prefixItems"]).length).every((item) => fits(wanted, item))
  ),
  required: (value, wanted) => !isObject(value) || listOf(wanted).every((key) => String(key) in value),
  properties: (value, wanted, _schema, fits) =>
    !isObject(value) ||
    !isObject(wanted) ||
    Object.entries(wanted).every(([key, schema]) => value[key] === undefined || fits(schema, value[key])),
  additionalProperties: (value, wanted, schema, fits) =>
    !isObject(value) ||
    Object.entries(value).every(
      ([key, member]) => (isObject(schema["properties"]) && key in schema["properties"]) || fits(wanted, member)
    )
}
