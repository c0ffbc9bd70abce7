/** Asks for the input of an agent: a box for a text, a form for the fields of a struct, or JSON. */
import { element } from "../../browser/Element.ts"
import { asText, labelled } from "./dom.ts"

/** A form, and what is in it. `read` throws an error for a text that is no JSON. */
export interface InputForm {
  readonly root: HTMLElement
  readonly read: () => unknown
  readonly focus: () => void
}

const fieldOf = (value: unknown, key: string): unknown =>
  // cast: any object may be read by key
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined

/** Follows a reference within the schema. */
const resolved = (schema: unknown, root: unknown): unknown => {
  const target = fieldOf(schema, "$ref")
  return typeof target === "string"
    ? fieldOf(fieldOf(root, "$defs"), target.slice(target.lastIndexOf("/") + 1))
    : schema
}

/** The form for an input with this JSON Schema; without one it is a text. `before` is the input of the last run. */
export const inputForm = (schema: unknown, before: unknown): InputForm => {
  const top = resolved(schema, schema)
  const properties = fieldOf(top, "properties")
  if (typeof properties === "object" && properties !== null) return struct(schema, Object.entries(properties), before)
  const isText = schema === undefined || fieldOf(top, "type") === "string"
  const box = element("textarea", { id: "input", rows: 3, "aria-label": "Input" })
  box.value = before === undefined ? (isText ? "Hello" : "") : asText(before)
  return {
    root: labelled(isText ? "Input" : "Input, as JSON", box),
    read: () => (isText ? box.value : JSON.parse(box.value)),
    focus: () => box.focus()
  }
}

const struct = (schema: unknown, properties: ReadonlyArray<readonly [string, unknown]>, before: unknown): InputForm => {
  const fields = properties.map(([name, given]) => ({
    name,
    ...field(name, resolved(given, schema), fieldOf(before, name))
  }))
  return {
    root: element("div", { class: "fields" }, ...fields.map(({ root }) => root)),
    // JSON leaves out the fields that are undefined
    read: () => Object.fromEntries(fields.map(({ name, read }) => [name, read()])),
    focus: () => fields[0]?.focus()
  }
}

const field = (name: string, schema: unknown, before: unknown): InputForm => {
  const type = fieldOf(schema, "type")
  const choices = fieldOf(schema, "enum")
  if (Array.isArray(choices) || type === "boolean") {
    const values: ReadonlyArray<unknown> = Array.isArray(choices) ? choices : [false, true]
    const select = element("select", { name }, ...values.map((value) => element("option", {}, asText(value))))
    select.selectedIndex = Math.max(0, values.indexOf(before))
    return { root: labelled(name, select), read: () => values[select.selectedIndex], focus: () => select.focus() }
  }
  const isNumber = type === "number" || type === "integer"
  const isText = type === "string"
  const box = element("input", { name, type: isNumber ? "number" : "text", step: isNumber ? "any" : undefined })
  box.value = before === undefined ? "" : asText(before)
  const read = () => {
    if (box.value === "") return isText ? "" : undefined
    return isText ? box.value : isNumber ? Number(box.value) : JSON.parse(box.value)
  }
  return { root: labelled(isText || isNumber ? name : `${name}, as JSON`, box), read, focus: () => box.focus() }
}
