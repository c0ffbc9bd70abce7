/** Converts the schemas of an operation into one JSON Schema that stands alone. */
import type * as Bounds from "@kintsugi/core/Bounds"
import { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Predicate from "effect/Predicate"
import { isJsonObject, type Json, type Part, type References } from "./pointer.ts"

/** The characters of a description that the model reads. */
const ofDescription = 1024

/** A text of the document for the model: redacted and cut. */
export const cut = (text: string): string => Redaction.foreign(text, ofDescription)

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const single = new Set(
  "items additionalItems additionalProperties contains else if not propertyNames then unevaluatedItems unevaluatedProperties".split(
    " "
  )
)
const lists = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const maps = new Set(["patternProperties", "properties", "dependentSchemas"])

/** Keywords that are copied as they are. All others are dropped: those that lead elsewhere, and remarks for other readers. */
const plain = new Set(
  (
    "const default dependentRequired enum exclusiveMaximum exclusiveMinimum format maximum maxItems maxLength maxProperties minimum minItems " +
    "minLength minProperties multipleOf pattern required type uniqueItems"
  ).split(" ")
)

/** The nodes of the schemas of all operations of a document. They bound the time that the tools of a document take. */
export interface Total {
  readonly what: string
  readonly limit: number
  nodes: number
}

/** The nodes of a value that is copied, such as the values of an `enum`. The document is not deep. */
const nodesOf = (value: unknown): number =>
  Predicate.isObjectOrArray(value) ? Object.values(value).reduce((sum: number, one) => sum + nodesOf(one), 1) : 1

/** The schemas of one operation. The targets of references become definitions, each once. */
export class DocumentSchemas {
  readonly #references: References
  readonly #bounds: Bounds.Bounds
  readonly #total: Total
  readonly #what: string
  readonly #isOld: boolean
  readonly #names = new Map<unknown, string>()
  readonly #waiting: Array<{ readonly name: string; readonly part: Part }> = []
  readonly #definitions: Array<[string, unknown]> = []
  #nodes = 0

  constructor(references: References, options: { bounds: Bounds.Bounds; total: Total; what: string; isOld: boolean }) {
    this.#references = references
    this.#bounds = options.bounds
    this.#total = options.total
    this.#what = options.what
    this.#isOld = options.isOld
  }

  /** Converts a schema of the document. Throws an `InputTooLargeError` or an `ApiDocumentError`. */
  schema(part: Part): Json | boolean {
    return this.#convert(part.value, part.pointer, 1)
  }

  /** The definitions of all references so far. */
  definitions(): Json {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop())
      this.#definitions.push([next.name, this.#convert(next.part.value, next.part.pointer, 1)])
    return Object.fromEntries(this.#definitions)
  }

  #convert(value: unknown, pointer: string, level: number): Json | boolean {
    if (level > this.#bounds.depth) throw this.#beyond("depth")
    if (++this.#nodes > this.#bounds.nodes) throw this.#beyond("nodes")
    this.#count(1)
    if (!isJsonObject(value)) return value !== false
    const of = (child: unknown, key: string) => this.#convert(child, `${pointer}/${key}`, level + 1)
    const hidden = new Set<string>()
    const entries: Array<[string, unknown]> = []
    for (const [key, item] of Object.entries(value)) {
      if (key === "$ref" && Predicate.isString(item)) entries.push(["$ref", this.#reference(item, pointer)])
      else if (key === "description" || key === "title") {
        if (Predicate.isString(item)) entries.push([key, cut(item)])
      } else if (plain.has(key)) {
        this.#count(nodesOf(item))
        entries.push([key, item])
      } else if (single.has(key)) {
        if (isJsonObject(item) || Predicate.isBoolean(item)) entries.push([key, of(item, key)])
      } else if (lists.has(key)) {
        if (Array.isArray(item) && item.length > 0)
          entries.push([key, item.map((one, index) => of(one, `${key}/${index}`))])
      } else if (maps.has(key) && isJsonObject(item)) {
        const shown = Object.entries(item).filter(([name, one]) => {
          // what only answers have
          const isHidden = key === "properties" && isJsonObject(one) && one["readOnly"] === true
          if (isHidden) hidden.add(name)
          return !isHidden
        })
        entries.push([key, Object.fromEntries(shown.map(([name, one]) => [name, of(one, `${key}/${name}`)]))])
      }
    }
    const converted = Object.fromEntries(entries)
    const { required } = converted
    if (Array.isArray(required))
      converted["required"] = required.filter((name) => !Predicate.isString(name) || !hidden.has(name))
    return this.#isOld ? renewed(value, converted) : converted
  }

  #reference(reference: string, pointer: string): string {
    const part = this.#references.target(reference, pointer)
    let name = this.#names.get(part.value)
    if (name === undefined) {
      name = `d${this.#names.size + 1}`
      this.#names.set(part.value, name)
      this.#waiting.push({ name, part })
    }
    return `#/$defs/${name}`
  }

  #count(nodes: number): void {
    const { limit, what } = this.#total
    this.#total.nodes += nodes
    if (this.#total.nodes > limit) throw InputTooLargeError.make({ what, bound: "nodes", limit })
  }

  #beyond(bound: "depth" | "nodes"): InputTooLargeError {
    return InputTooLargeError.make({ what: this.#what, bound, limit: this.#bounds[bound] })
  }
}

/** Writes what OpenAPI 3.0 says in its own way as JSON Schema: `nullable`, and exclusive bounds as flags. */
const renewed = (value: Json, converted: Json): Json => {
  const schema: Record<string, unknown> = { ...converted }
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"]
  ] as const) {
    if (!Predicate.isBoolean(schema[flag])) continue
    if (schema[flag] && Predicate.isNumber(schema[bound])) {
      schema[flag] = schema[bound]
      delete schema[bound]
    } else delete schema[flag]
  }
  if (value["nullable"] !== true) return schema
  const { enum: values, type } = schema
  if (Predicate.isString(type))
    return { ...schema, type: [type, "null"], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
  return { anyOf: [schema, { type: "null" }] }
}
