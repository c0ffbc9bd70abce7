/** Makes values that fit a JSON Schema, the same ones for the same seed. They look like values that a person would write. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fieldOf, itemsAt, numberAt, textAt } from "../recording/Fields.ts"

/** Gives the next number of a sequence: at least 0 and below 1. */
export type Random = () => number

/** A sequence of numbers that follows from its seed (mulberry32). */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Schemas that refer to themselves end here. */
const maxDepth = 6

/** Makes a value that fits the schema. `name` is the name of the field, from which a text may take its form. */
export const valueOf = (schema: unknown, random: Random, name = "value"): unknown =>
  make(schema, schema, random, name, 0)

/**
 * Makes JSON that a codec decodes. `jsonSchema` is the JSON Schema of the codec. A value of the JSON Schema that the codec refuses, for
 * example because of a pattern, is replaced by a random value of the codec.
 */
export const fitting = (
  codec: Schema.Codec<unknown, unknown>,
  jsonSchema: unknown,
  seed: number,
  name: string
): unknown => {
  const json = Schema.toCodecJson(codec)
  const value = valueOf(jsonSchema, randomOf(seed), name)
  if (Result.isSuccess(Schema.decodeUnknownResult(json)(value))) return value
  const sampled = Result.try((): unknown => {
    const [sample] = Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(codec), { count: 1, seed, size: 3 }))
    return Schema.encodeUnknownSync(json)(sample)
  })
  return Result.getOrElse(sampled, () => value)
}

const make = (given: unknown, root: unknown, random: Random, name: string, depth: number): unknown => {
  const schema = resolved(given, root)
  const choices = choicesOf(schema)
  if (choices.length > 0) return choices[Math.floor(random() * choices.length)]
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, root, random, depth)
    case "array": {
      const least = numberAt(schema, "minItems") ?? (depth < maxDepth ? 1 : 0)
      const fixed = itemsAt(schema, "prefixItems")
      const item = fieldOf(schema, "items")
      return Array.from({ length: Math.max(least, fixed.length) }, (_, index) =>
        make(fixed[index] ?? item, root, random, name, depth + 1)
      )
    }
    case "number":
    case "integer":
      return numberOf(schema, random)
    case "boolean":
      return random() < 0.5
    case "null":
      return null
    default:
      return textOf(schema, random, name)
  }
}

/** Follows references, and takes the first alternative that is not `null`. */
const resolved = (given: unknown, root: unknown, hops = 0): unknown => {
  if (hops > 32) return {}
  const reference = textAt(given, "$ref")
  if (reference !== undefined) return resolved(pointed(reference, root), root, hops + 1)
  for (const key of ["anyOf", "oneOf"]) {
    const ways = itemsAt(given, key)
    const way = ways.find((one) => textAt(one, "type") !== "null") ?? ways[0]
    if (way !== undefined) return resolved(way, root, hops + 1)
  }
  const all = itemsAt(given, "allOf")
  if (all.length === 0) return given
  return Object.assign({}, given, ...all.map((one) => resolved(one, root, hops + 1)))
}

const pointed = (reference: string, root: unknown): unknown =>
  reference
    .replace(/^#\/?/, "")
    .split("/")
    .filter((step) => step !== "")
    .reduce<unknown>((at, step) => fieldOf(at, step.replaceAll("~1", "/").replaceAll("~0", "~")), root)

const choicesOf = (schema: unknown): ReadonlyArray<unknown> => {
  const constant = fieldOf(schema, "const")
  if (constant !== undefined) return [constant]
  const listed = itemsAt(schema, "enum")
  if (listed.length > 0) return listed
  const fallback = fieldOf(schema, "default")
  return fallback === undefined ? itemsAt(schema, "examples") : [fallback]
}

const typeOf = (schema: unknown): string | undefined => {
  const types = itemsAt(schema, "type")
  const type = textAt(schema, "type") ?? types.find((one) => one !== "null")
  if (typeof type === "string") return type
  return fieldOf(schema, "properties") === undefined ? undefined : "object"
}

const objectOf = (schema: unknown, root: unknown, random: Random, depth: number): unknown => {
  const properties = Object.entries(fieldOf(schema, "properties") ?? {})
  const required = new Set(itemsAt(schema, "required"))
  return Object.fromEntries(
    properties
      .filter(([key]) => required.has(key) || depth < maxDepth / 2)
      .map(([key, field]) => [key, make(field, root, random, key, depth + 1)])
  )
}

const numberOf = (schema: unknown, random: Random): number => {
  const isWhole = textAt(schema, "type") === "integer"
  const floor = numberAt(schema, "exclusiveMinimum")
  const ceiling = numberAt(schema, "exclusiveMaximum")
  const step = numberAt(schema, "multipleOf") ?? (isWhole ? 1 : 0)
  const gap = step > 0 ? step : 0.01
  const least = numberAt(schema, "minimum") ?? (floor === undefined ? undefined : floor + gap)
  const most = numberAt(schema, "maximum") ?? (ceiling === undefined ? undefined : ceiling - gap)
  const from = least ?? Math.min(1, most ?? 1)
  const to = most ?? from + 9
  const drawn = from + random() * (to - from)
  if (step > 0) {
    const rounded = Math.ceil(drawn / step) * step
    return rounded > to ? Math.floor(to / step) * step : rounded
  }
  return Math.min(to, Math.max(from, Math.round(drawn)))
}

/** Texts by the format of a schema. */
const formats: Readonly<Record<string, string>> = {
  date: "2026-01-15",
  "date-time": "2026-01-15T09:30:00.000Z",
  time: "09:30:00Z",
  email: "ada@example.com",
  uri: "https://example.com/",
  uuid: "7f3c8f3e-2d0a-4c3b-9a51-0c4f5a8e1b22"
}

/** Texts by the name of a field, in the order of looking. */
const names: ReadonlyArray<readonly [RegExp, (number: number) => string]> = [
  [/e-?mail/i, () => "ada@example.com"],
  [/url|uri|link/i, () => "https://example.com/"],
  [/date|day/i, () => "2026-01-15"],
  [/city|place/i, () => "Paris"],
  [/country/i, () => "FR"],
  [/currency/i, () => "EUR"],
  [/name|customer|user/i, () => "Ada"],
  [/(?:id|key|number|no)$/i, (number) => `A-${number}`],
  [/json|document|body/i, () => '{"a":1}']
]

const textOf = (schema: unknown, random: Random, name: string): string => {
  const number = 1 + Math.floor(random() * 99)
  const form = formats[textAt(schema, "format") ?? ""]
  const made = form ?? names.find(([of]) => of.test(name))?.[1](number) ?? `${name} ${number}`
  const least = numberAt(schema, "minLength") ?? 0
  const most = numberAt(schema, "maxLength") ?? Infinity
  return made.padEnd(least, "x").slice(0, most)
}

/** The tags in a JSON Schema of errors: the constants of every field `_tag`. */
export const tagsIn = (schema: unknown): ReadonlyArray<string> => {
  const found = new Set<string>()
  const seen = new Set<unknown>()
  const look = (node: unknown): void => {
    if (typeof node !== "object" || node === null || seen.has(node)) return
    seen.add(node)
    const tag = fieldOf(fieldOf(node, "properties"), "_tag")
    for (const one of [fieldOf(tag, "const"), ...itemsAt(tag, "enum")]) if (typeof one === "string") found.add(one)
    for (const child of Object.values(node)) look(child)
  }
  look(schema)
  return [...found]
}
