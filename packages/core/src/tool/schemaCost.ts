/**
 * Counts what it costs to check a value by a JSON Schema, before the value is checked. The alternatives of a choice multiply with the items
 * of a list, and those of a recursive schema with one another at each level of the value.
 */
import * as Predicate from "effect/Predicate"
import { isNode, listOf, mapOf, type SchemaNode, targetOf } from "./schemaSize.ts"

/** A schema that applies to a value, and the field of the whole value that has it. */
interface Pair {
  readonly schema: unknown
  readonly value: unknown
  readonly field: string | undefined
}

/** A check costs this much. To follow a reference, or to look for a property, costs 1. */
const check = 8

/** The most that a value may cost: about two seconds. A list of numbers of 1 MiB costs half of that. */
const most = 8_000_000

/** The field at which the checks of a value cost too much. It is empty for a value without fields, and `undefined` for one within the bound. */
export const costlyField = (root: SchemaNode, whole: unknown): string | undefined => {
  const targets = new Map<string, SchemaNode | undefined>()
  const target = (ref: string) => {
    if (!targets.has(ref)) targets.set(ref, targetOf(root, ref))
    return targets.get(ref)
  }
  const signs = new Map<unknown, Sign>()
  const counts = new Map<SchemaNode, number>()
  const pairs: Array<Pair> = [{ schema: root, value: whole, field: undefined }]
  let cost = 0
  for (let pair = pairs.pop(); pair !== undefined && cost <= most; pair = pairs.pop()) {
    const { field, schema, value } = pair
    if (!isNode(schema)) continue
    const ref = schema["$ref"]
    if (Predicate.isString(ref)) pairs.push({ schema: target(ref), value, field })
    for (const part of listOf(schema["allOf"])) pairs.push({ schema: part, value, field })
    const choice = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])]
    for (const one of choice) {
      const sign = signs.get(one) ?? signOf(one, target)
      // Mutant `;` survives: speed only. The sign is found once more
      signs.set(one, sign)
      if (isCandidate(sign, value)) pairs.push({ schema: one, value, field })
    }
    cost += Predicate.isString(ref) || choice.length > 0 ? 1 + choice.length / check : check
    if (Array.isArray(value)) {
      const { first, rest } = itemsOf(schema)
      // Mutant `true` survives: speed only. Where no schema applies, nothing is checked
      if (rest !== undefined || first.length > 0)
        value.forEach((item, index) => pairs.push({ schema: first[index] ?? rest, value: item, field: field ?? "" }))
    } else if (isNode(value)) {
      const { additionalProperties, propertyNames } = schema
      const properties = mapOf(schema["properties"])
      const count = counts.get(properties) ?? Object.keys(properties).length
      // Mutant `;` survives: speed only. The properties are counted once more
      counts.set(properties, count)
      cost += count
      for (const [name, item] of Object.entries(value)) {
        if (isNode(propertyNames)) pairs.push({ schema: propertyNames, value: name, field: field ?? name })
        const property = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
        if (isNode(property)) pairs.push({ schema: property, value: item, field: field ?? name })
      }
      for (const name of listOf(schema["required"])) cost += Object.hasOwn(value, String(name)) ? 1 : check
    }
    if (cost > most) return field ?? ""
  }
  return undefined
}

/** The schemas of the first items of a list, and of the others. Draft-07 has a tuple in `items`. */
const itemsOf = ({ additionalItems, items, prefixItems }: SchemaNode) =>
  Array.isArray(items) ? { first: listOf(items), rest: additionalItems } : { first: listOf(prefixItems), rest: items }

/** What tells at once that a value does not fit an alternative. */
interface Sign {
  readonly type: unknown
  readonly only: string | number | undefined
  readonly fields: ReadonlyArray<readonly [name: string, only: string | number]>
}

/** How many references, and lists of one schema, are followed to find a sign. */
const hops = 8

const signOf = (alternative: unknown, target: (ref: string) => unknown): Sign => {
  let schema = alternative
  for (let hop = 0; hop < hops && isNode(schema); hop++) {
    const { $ref: ref } = schema
    const all = listOf(schema["allOf"])
    if (Predicate.isString(ref)) schema = target(ref)
    else if (all.length === 1) schema = all[0]
    else break
  }
  if (!isNode(schema)) return { type: undefined, only: undefined, fields: [] }
  const properties = mapOf(schema["properties"])
  const fields = listOf(schema["required"]).flatMap((name) => {
    const only = constantOf(properties[String(name)])
    return only === undefined ? [] : [[String(name), only] as const]
  })
  return { type: schema["type"], only: constantOf(schema), fields: fields.slice(0, 1) }
}

/** Whether a value may fit an alternative with this sign. The decoder rules out all others at next to no cost. */
const isCandidate = ({ fields, only, type }: Sign, value: unknown): boolean => {
  if (Predicate.isString(type) && !isOfType(type, value)) return false
  if (only !== undefined && only !== value) return false
  return !isNode(value) || fields.every(([name, only]) => value[name] === only)
}

const isOfType = (type: string, value: unknown): boolean => {
  switch (type) {
    case "array":
      return Array.isArray(value)
    case "object":
      return isNode(value)
    case "null":
      return value === null
    case "integer":
      return Predicate.isNumber(value)
    default:
      return typeof value === type
  }
}

/** The text or number that a schema admits alone. */
const constantOf = (schema: unknown): string | number | undefined => {
  if (!isNode(schema)) return undefined
  const values = listOf(schema["enum"])
  const only: unknown = "const" in schema ? schema["const"] : values.length === 1 ? values[0] : undefined
  return Predicate.isString(only) || Predicate.isNumber(only) ? only : undefined
}
