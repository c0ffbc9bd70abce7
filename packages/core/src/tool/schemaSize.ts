/** Counts how large a JSON Schema becomes when its references are followed. This happens before any other code follows them. */
import * as Predicate from "effect/Predicate"
import * as Bounds from "../data/Bounds.ts"
import { quietly } from "../data/Foreign.ts"

export type SchemaNode = { readonly [key: string]: unknown }

/** A bound that is exceeded. */
interface Exceeded {
  readonly bound: keyof Bounds.Bounds
  readonly limit: number
}

/** The bound that a schema exceeds, if it exceeds one. Counting takes at most as many steps as the schema may have nodes. */
export const exceededBy = (schema: SchemaNode, bounds: Bounds.Bounds): Exceeded | undefined => {
  const { bytes, depth } = bounds
  if (Bounds.isLonger(schema, bytes)) return { bound: "bytes", limit: bytes }
  if (Bounds.isDeeper(schema, depth)) return { bound: "depth", limit: depth }
  return new Expansion(schema, bounds).exceeded()
}

/** The number of nodes, and of the levels in which they are nested. */
interface Size {
  readonly nodes: number
  readonly depth: number
}

/** The schemas of one place in a value. All of `parts` apply to it, and from each list in `choices` one schema at a time applies too. */
interface Location {
  readonly parts: ReadonlyArray<SchemaNode>
  readonly choices: ReadonlyArray<ReadonlyArray<unknown>>
  readonly followed: ReadonlyArray<object>
}

class Expansion {
  readonly #root: SchemaNode
  readonly #bounds: Bounds.Bounds
  /** The sizes of the targets of references, once they are counted. */
  readonly #sizes = new Map<object, Size>()
  /** The targets that are being counted: a reference to one of them is recursive, and counts as one node. */
  readonly #counting = new Set<object>()
  #steps = 0
  #beyond: keyof Bounds.Bounds | undefined

  constructor(root: SchemaNode, bounds: Bounds.Bounds) {
    this.#root = root
    this.#bounds = bounds
  }

  exceeded(): Exceeded | undefined {
    this.#counting.add(this.#root)
    const { nodes } = this.#size([this.#root], 1)
    if (nodes > this.#bounds.nodes) this.#beyond ??= "nodes"
    return this.#beyond === undefined ? undefined : { bound: this.#beyond, limit: this.#bounds[this.#beyond] }
  }

  /** The size of the schemas that all apply to one place in a value. */
  #size(schemas: ReadonlyArray<unknown>, level: number): Size {
    if (level > this.#bounds.depth) this.#beyond ??= "depth"
    const only = this.#beyond === undefined ? onlyReference(schemas) : undefined
    if (only !== undefined) return this.#reference(only, level)
    const { choices, followed, parts } = this.#locate(schemas)
    // Mutant `false` survives: speed only. Beyond a bound no schema is located
    if (this.#beyond !== undefined) return none
    for (const target of followed) this.#counting.add(target)
    let nodes = parts.reduce((sum, part) => sum + 1 + listOf(part["enum"]).length, 0)
    let depth = 0
    const add = (nested: ReadonlyArray<unknown>) => {
      const size = this.#size(nested, level + 1)
      // schemas that apply together are combined pair by pair
      nodes += size.nodes * nested.length
      depth = Math.max(depth, size.depth)
    }
    // Mutant `false` survives: speed only. Without a choice nothing is beside it
    const beside = choices.length === 0 ? [] : parts.map(withoutReferences).filter(isConstraint)
    for (const choice of choices) for (const one of choice) add([...beside, one])
    if (choices.length === 0) {
      const children = childrenOf(parts)
      // the schemas of one value are compared with one another at each of its properties and items
      nodes += children.size * (parts.length - 1)
      if (nodes > this.#bounds.nodes) this.#beyond ??= "nodes"
      else for (const nested of withFurther(children, parts).values()) add(nested)
    }
    for (const target of followed) this.#counting.delete(target)
    return { nodes, depth: depth + 1 }
  }

  /** The size of the target of a reference that has no constraints beside it. Each target is counted once. */
  #reference(ref: string, level: number): Size {
    const target = targetOf(this.#root, ref)
    this.#step()
    if (target === undefined || this.#counting.has(target)) return leaf
    const counted = this.#sizes.get(target)
    if (counted !== undefined) {
      if (level - 1 + counted.depth > this.#bounds.depth) this.#beyond ??= "depth"
      return counted
    }
    this.#counting.add(target)
    const { depth, nodes } = this.#size([target], level + 1)
    this.#counting.delete(target)
    const size = { nodes: nodes + 1, depth: depth + 1 }
    this.#sizes.set(target, size)
    return size
  }

  #locate(schemas: ReadonlyArray<unknown>): Location {
    const parts: Array<SchemaNode> = []
    const choices: Array<ReadonlyArray<unknown>> = []
    const followed = new Set<object>()
    const all = [...schemas]
    for (const one of all) {
      if (this.#beyond !== undefined) break
      this.#step()
      if (!isNode(one)) continue
      parts.push(one)
      const target = Predicate.isString(one["$ref"]) ? targetOf(this.#root, one["$ref"]) : undefined
      if (target !== undefined && !this.#counting.has(target)) {
        followed.add(target)
        all.push(target)
      }
      for (const part of listOf(one["allOf"])) all.push(part)
      for (const choice of [listOf(one["anyOf"]), listOf(one["oneOf"])]) if (choice.length > 0) choices.push(choice)
    }
    return { parts, choices, followed: [...followed] }
  }

  #step(): void {
    if (++this.#steps > this.#bounds.nodes) this.#beyond ??= "nodes"
  }
}

/** Finds the target of a reference by its JSON pointer. */
export const targetOf = (root: SchemaNode, ref: string): SchemaNode | undefined => {
  if (!ref.startsWith("#")) return undefined
  let node: unknown = root
  for (const token of ref.slice(1).split("/").slice(1)) {
    const key = quietly(() => decodeURIComponent(token), token)
      .replaceAll("~1", "/")
      .replaceAll("~0", "~")
    node = Predicate.isObjectOrArray(node) && Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined
  }
  return isNode(node) ? node : undefined
}

const none: Size = { nodes: 0, depth: 0 }
const leaf: Size = { nodes: 1, depth: 1 }

export const isNode = (value: unknown): value is SchemaNode => Predicate.isObject(value)

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const mapOf = (value: unknown): SchemaNode => (isNode(value) ? value : {})

/**
 * The reference, if the schemas consist of one reference only. Descriptions beside it do not count, nor does an `allOf` with one member.
 */
const onlyReference = (schemas: ReadonlyArray<unknown>): string | undefined => {
  let [one, ...others] = schemas
  while (others.length === 0 && isNode(one) && !isConstraint(one)) {
    const all: ReadonlyArray<unknown> = listOf(one["allOf"])
    if (Predicate.isString(one["$ref"])) return all.length === 0 ? one["$ref"] : undefined
    ;[one, ...others] = all
  }
  return undefined
}

const isConstraint = (schema: SchemaNode): boolean => Object.keys(schema).some((key) => constrains.has(key))

/** The keywords that constrain a location, except references and `allOf`. */
const constrains: ReadonlySet<string> = new Set(
  `type const enum properties required additionalProperties patternProperties propertyNames items prefixItems anyOf oneOf
  additionalItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems
  minProperties maxProperties not`.split(/\s+/)
)

/** A schema that applies beside a choice, without the references and choices that are counted already. */
const withoutReferences = ({ $ref: _ref, allOf: _all, anyOf: _any, oneOf: _one, ...part }: SchemaNode): SchemaNode =>
  part

/** The schemas of each child location: of each property, of each item. */
const childrenOf = (parts: ReadonlyArray<SchemaNode>): Map<string, Array<unknown>> => {
  const locations = new Map<string, Array<unknown>>()
  const put = (location: string, schema: unknown) => {
    const there = locations.get(location)
    if (there === undefined) locations.set(location, [schema])
    else there.push(schema)
  }
  for (const part of parts) {
    for (const keyword of ["properties", "patternProperties"]) {
      for (const [name, schema] of Object.entries(mapOf(part[keyword]))) put(`${keyword} ${name}`, schema)
    }
    for (const keyword of ["additionalProperties", "propertyNames", "additionalItems", "items"]) {
      if (isNode(part[keyword])) put(keyword, part[keyword])
    }
    // draft-07 has the schemas of a tuple in `items`
    for (const list of [listOf(part["prefixItems"]), listOf(part["items"])]) {
      list.forEach((schema, index) => put(`prefixItems ${index}`, schema))
    }
  }
  return locations
}

/** Adds the `additionalProperties` of each part to the properties that only other parts name, because it applies to these. */
const withFurther = (
  locations: Map<string, Array<unknown>>,
  parts: ReadonlyArray<SchemaNode>
): Map<string, Array<unknown>> => {
  if (parts.length === 1) return locations
  for (const part of parts) {
    const further = part["additionalProperties"]
    if (!isNode(further)) continue
    const own = new Set(Object.keys(mapOf(part["properties"])).map((name) => `properties ${name}`))
    for (const [location, schemas] of locations)
      if (location.startsWith("properties ") && !own.has(location)) schemas.push(further)
  }
  return locations
}
