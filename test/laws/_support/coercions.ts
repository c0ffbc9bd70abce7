/** Generated schemas, with values that fit them, and what models make of such values. */
import { Schema } from "effect"
import fc from "fast-check"

export type Json = Schema.Json

/** What a schema is, told by data. */
export type Shape =
  | { readonly type: "text" | "number" | "boolean" | "json" }
  | { readonly type: "list"; readonly of: Shape }
  | { readonly type: "maybe"; readonly of: Shape }
  | { readonly type: "record"; readonly of: Shape }
  | { readonly type: "tagged"; readonly number: Shape; readonly text: Shape }
  | { readonly type: "struct"; readonly fields: Readonly<Record<string, Field>> }

interface Field {
  readonly shape: Shape
  readonly isOptional: boolean
}

export interface Case {
  readonly shape: Shape
  readonly valid: Json
  /** The valid value, changed in ways that the ladder undoes. */
  readonly mendable: Json
  /** The valid value, changed in any way. */
  readonly broken: Json
  /** Without one required field; absent when it has none. */
  readonly missing: Json | undefined
}

type Codec = Schema.Codec<unknown, unknown>

export const toSchema = (shape: Shape): Codec => {
  switch (shape.type) {
    case "text":
      return Schema.String
    case "number":
      return Schema.Finite
    case "boolean":
      return Schema.Boolean
    case "json":
      return Schema.Json
    case "list":
      return Schema.Array(toSchema(shape.of))
    case "maybe":
      return Schema.NullOr(toSchema(shape.of))
    case "record":
      return Schema.Record(Schema.String, toSchema(shape.of))
    case "tagged":
      return Schema.Union([
        Schema.Struct({ kind: Schema.Literal("number"), of: toSchema(shape.number) }),
        Schema.Struct({ kind: Schema.Literal("text"), of: toSchema(shape.text) })
      ])
    case "struct":
      return Schema.Struct(
        Object.fromEntries(
          Object.entries(shape.fields).map(([name, { isOptional, shape }]) => [
            name,
            isOptional ? Schema.optionalKey(toSchema(shape)) : toSchema(shape)
          ])
        )
      )
  }
}

const key = fc.constantFrom("a", "b", "c", "to", "0", "__proto__", "")

const { root } = fc.letrec<{ root: Shape; any: Shape; struct: Shape }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Shape>({ type: "text" }, { type: "number" }, { type: "boolean" }, { type: "json" }),
    tie("any").map((of): Shape => ({ type: "list", of })),
    tie("any").map((of): Shape => (of.type === "maybe" || of.type === "json" ? of : { type: "maybe", of })),
    tie("any").map((of): Shape => ({ type: "record", of })),
    fc.tuple(tie("any"), tie("any")).map(([number, text]): Shape => ({ type: "tagged", number, text })),
    tie("struct")
  ),
  struct: fc
    .array(fc.tuple(key, fc.record({ shape: tie("any"), isOptional: fc.boolean() })), { maxLength: 4 })
    // a struct without fields takes any value
    .map((fields): Shape => ({
      type: "struct",
      fields: { z: { shape: { type: "json" }, isOptional: true }, ...from(fields) }
    })),
  root: tie("struct")
}))

const from = <A>(entries: ReadonlyArray<readonly [string, A]>): Record<string, A> => Object.fromEntries(entries)

const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0)
)

const texts = fc.oneof(
  fc.string(),
  fc.constantFrom("", "5", "[1]", '{"a":1}', "null", "-1.5e3", "abc"),
  number.map(String)
)

const valueOf = (shape: Shape): fc.Arbitrary<Json> => {
  switch (shape.type) {
    case "text":
      return texts
    case "number":
      return number
    case "boolean":
      return fc.boolean()
    case "json":
      // a JSON value of the generator
      return fc.oneof(texts, number, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<Json>
    case "list":
      return fc.array(valueOf(shape.of), { maxLength: 4 })
    case "maybe":
      return fc.option(valueOf(shape.of), { nil: null })
    case "record":
      return fc.array(fc.tuple(key, valueOf(shape.of)), { maxLength: 3 }).map(from)
    case "tagged":
      return fc.oneof(
        fc.record({ kind: fc.constant("number"), of: valueOf(shape.number) }, { noNullPrototype: true }),
        fc.record({ kind: fc.constant("text"), of: valueOf(shape.text) }, { noNullPrototype: true })
      )
    case "struct":
      return fc
        .tuple(
          ...Object.entries(shape.fields).map(([name, { isOptional, shape }]) =>
            fc.tuple(fc.constant(name), isOptional ? fc.option(valueOf(shape), { nil: undefined }) : valueOf(shape))
          )
        )
        .map((fields) => from(fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))))
  }
}

/** What a model may make of a value: by the schema, so that the ladder can know what was meant. */
const meant = (shape: Shape, value: Json, next: () => number, wraps = 3): Json => {
  // the ladder unwraps strings within strings three deep
  const isWrapped = wraps > 0 && next() % 4 === 0
  const left = isWrapped ? wraps - 1 : wraps
  const wrapped = (value: Json): Json => (isWrapped ? JSON.stringify(value) : value)
  switch (shape.type) {
    case "number":
      return next() % 2 === 0 && !Object.is(value, -0) ? String(value) : value
    case "text":
      // only what is spelled like this number is meant by it
      return typeof value === "string" && isPlain(value) && next() % 2 === 0 ? Number(value) : value
    case "list":
      return Array.isArray(value) ? wrapped(value.map((item) => meant(shape.of, item, next, left))) : value
    case "record":
      return wrapped(from(Object.entries(value ?? {}).map(([name, item]) => [name, meant(shape.of, item, next, left)])))
    case "struct":
      return wrapped(
        from([
          ...Object.entries(value ?? {}).map(([name, item]) => {
            // the descriptor of a field
            const field = Object.getOwnPropertyDescriptor(shape.fields, name)?.value as Field | undefined
            return [name, field === undefined ? item : meant(field.shape, item, next, left)] as const
          }),
          ...Object.entries(shape.fields)
            .filter(([name, field]) => field.isOptional && !Object.keys(value ?? {}).includes(name) && next() % 2 === 0)
            .flatMap(([name, { shape }]) => {
              const empty = next() % 2 === 0 ? null : ""
              return isRefused(shape, empty) ? [[name, empty] as const] : []
            })
        ])
      )
    default:
      return value
  }
}

const isPlain = (text: string): boolean =>
  String(Number(text)) === text && (Number.isSafeInteger(Number(text)) || /^-?\d+\.\d+$/.test(text))

/** Whether an empty value has no meaning for a shape. */
const isRefused = (shape: Shape, empty: null | ""): boolean =>
  shape.type !== "json" && (empty === null ? shape.type !== "maybe" : !isTextual(shape))

const isTextual = (shape: Shape): boolean =>
  shape.type === "text" || shape.type === "json" || (shape.type === "maybe" && isTextual(shape.of))

const anything = fc.oneof(
  fc.constantFrom<Json>(null, "", "5", 5, "abc", "[]", "{}", '{"a":"5"}', "1e400", 1e300, true),
  texts
)

/** Puts something else in one place. */
const breaking = (value: Json, other: Json, next: () => number): Json => {
  if (next() % 3 === 0) return other
  if (Array.isArray(value) && value.length > 0) {
    const at = next() % value.length
    return value.map((item: Json, index) => (index === at ? breaking(item, other, next) : item))
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
    const at = next() % (entries.length + 1)
    return from(entries.map(([name, item], index) => [name, index === at ? breaking(item, other, next) : item]))
  }
  return other
}

/** Removes the first required field. */
const without = (shape: Shape, value: Json): Json | undefined => {
  if (shape.type !== "struct" || typeof value !== "object" || value === null) return undefined
  for (const [name, field] of Object.entries(shape.fields)) {
    const inner: Json | undefined = Object.getOwnPropertyDescriptor(value, name)?.value
    const less = inner === undefined ? undefined : without(field.shape, inner)
    if (less !== undefined) return from([...Object.entries(value).filter(([key]) => key !== name), [name, less]])
    if (!field.isOptional) return from(Object.entries(value).filter(([key]) => key !== name))
  }
  return undefined
}

/** JSON has no negative zero of its own. */
const asSent = (value: Json): Json =>
  // what was JSON is JSON again
  JSON.parse(JSON.stringify(value)) as Json

const dice = (rolls: ReadonlyArray<number>): (() => number) => {
  let at = 0
  return () => rolls[at++ % rolls.length] ?? 0
}

const rolls = fc.array(fc.nat({ max: 99 }), { minLength: 7, maxLength: 17 })

export const schemaAndValue: fc.Arbitrary<Case> = root.chain((shape) =>
  fc
    .record({ valid: valueOf(shape).map(asSent), others: fc.array(anything, { minLength: 1, maxLength: 3 }), rolls })
    .map(({ others, rolls, valid }) => {
      const mendable = meant(shape, valid, dice(rolls))
      return {
        shape,
        valid,
        mendable,
        broken: others.reduce((value, other, index) => breaking(value, other, dice(rolls.slice(index))), mendable),
        missing: without(shape, valid)
      }
    })
)
