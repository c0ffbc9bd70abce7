/**
 * A codec of plain JSON from a JSON Schema. An example is the schema of a foreign tool. The codec checks what it can of the schema; models
 * read the schema word for word.
 */
import * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import * as Bounds from "../data/Bounds.ts"
import type * as Message from "../data/Message.ts"
import { InputTooLargeError } from "../errors/DoorError.ts"
import { costlyField } from "./schemaCost.ts"
import { exceededBy } from "./schemaSize.ts"

const TypeId = "~@kintsugi/core/RawSchema"

/**
 * A JSON Schema. It is read as draft-07 if its `$schema` says so, or if it has `definitions` and no `$schema`; else as draft 2020-12.
 *
 * @hidden
 */
export type RawSchema = Message.ToolSpec["parameters"]

/** How a JSON Schema is read. */
type Options = {
  /** How large the schema may be. An absent bound has its default, see `Bounds`. */
  readonly bounds?: Partial<Bounds.Bounds> | undefined
  /** The name of the schema in errors; `The JSON Schema` by default. */
  readonly what?: string
}

/**
 * The codec of the values that a JSON Schema admits. It does not check regular expressions (those of a foreign schema may run for ever),
 * conditions (`if`, `not`) and `format`. A part of the schema that cannot be read accepts any JSON; the tool has to check such a value.
 * Throws an `InputTooLargeError` for a schema that exceeds a bound.
 */
export const make = (schema: RawSchema, options?: Options): Schema.Codec<Schema.Json, unknown> => {
  const error = tooLarge(schema, options)
  if (error !== undefined) throw error
  const document = documentOf(schema)
  const codec = Result.getOrElse(imported(document), () => openedUp(document))
  return shownAs(within(codec, schema), schema)
}

/** The codec of a JSON Schema without an unreadable part. `undefined` for any other schema, and for one beyond the default bounds. */
export const whole = (schema: RawSchema): Schema.Codec<Schema.Json, unknown> | undefined => {
  if (tooLarge(schema) !== undefined) return undefined
  const codec = Result.getOrUndefined(imported(documentOf(schema)))
  return codec === undefined ? undefined : shownAs(codec, schema)
}

/**
 * The error for a JSON Schema that exceeds a bound. The bounds are bytes, levels, and nodes once its references are followed. `undefined`
 * for a schema within the bounds. The check takes no more steps than the schema may have nodes.
 */
export const tooLarge = (
  schema: RawSchema,
  { bounds, what = "The JSON Schema" }: Options = {}
): InputTooLargeError | undefined => {
  const exceeded = exceededBy(schema, Bounds.resolve(bounds))
  return exceeded === undefined ? undefined : InputTooLargeError.make({ what, ...exceeded })
}

/**
 * Sets the JSON Schema that models read for a codec. A tool with this codec shows models `schema` instead of the schema of the codec
 * itself. Decoding stays as before.
 */
export const shownAs = <A>(codec: Schema.Codec<A, unknown>, schema: RawSchema): Schema.Codec<A, unknown> =>
  codec.annotate({ [TypeId]: schema })

/**
 * The JSON Schema of a codec; `undefined` for a codec that was not made of one.
 *
 * @internal
 */
export const of = (codec: Schema.Top): RawSchema | undefined => SchemaAST.resolveAt<RawSchema>(TypeId)(codec.ast)

/** The same codec, except that it refuses a value whose check by the schema would take too long. */
const within = (codec: Codec, schema: RawSchema): Codec =>
  Schema.Unknown.check(
    Schema.makeFilter((value) => {
      const field = costlyField(schema, value)
      return field === undefined || { path: field === "" ? [] : [field], issue: tooCostly }
    })
  ).pipe(Schema.decodeTo(codec))

const tooCostly = "Expected a smaller value: its schema has too many alternatives for so many parts"

type Codec = Schema.Codec<Schema.Json, unknown>
type Document = JsonSchema.Document<"draft-2020-12">

const documentOf = (schema: RawSchema): Document => {
  const { $schema } = schema
  const isOld = Predicate.isString($schema) ? $schema.includes("draft-07") : "definitions" in schema
  return isOld ? JsonSchema.fromSchemaDraft07(schema) : JsonSchema.fromSchemaDraft2020_12(schema)
}

const imported = (document: Document): Result.Result<Codec, unknown> =>
  // the cast is safe: a JSON Schema admits JSON only, and its codec needs no service
  Result.try(() => SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore" }) as Codec)

/** A codec of an object. A field whose schema cannot be read accepts any JSON. */
const openedUp = (document: Document): Codec => {
  const { properties, required } = document.schema
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(Predicate.isObject(properties) ? properties : {}).map(([name, property]) => {
    const part = Predicate.isObject(property)
      ? Result.getOrElse(imported({ ...document, schema: { ...property } }), () => Schema.Json)
      : Schema.Json
    return [name, needed.has(name) ? part : Schema.optionalKey(part)] as const
  })
  return Schema.StructWithRest(Schema.Struct(Object.fromEntries(fields)), [Schema.Record(Schema.String, Schema.Json)])
}
