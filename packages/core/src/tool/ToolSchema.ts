/** Makes the JSON Schema that a model reads, and the decoder of what the model has sent. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { quietly } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import { once } from "../data/Once.ts"
import * as RawSchema from "./RawSchema.ts"
import { reader } from "./reading.ts"

export const jsonSchemaOf = (
  schema: Schema.Codec<unknown, unknown, unknown, unknown>
): Message.ToolSpec["parameters"] => {
  const raw = RawSchema.of(schema)
  if (raw !== undefined) return raw
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(modelSchema(schema), { onExcessProperty: "error" })
  // the cast is safe: the JSON Schema of a schema is a JSON object
  const json = flat(root as Schema.Json) as Message.ToolSpec["parameters"]
  return Predicate.isTruthy(Object.keys(definitions).length)
    ? { ...json, $defs: flat(definitions as Schema.Json) }
    : json
}

/** Flattens `allOf`, which some providers refuse. Effect puts the description of a key there; it becomes the description of the value. */
const flat = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(flat)
  if (!Predicate.isObject(json)) return json
  const { allOf, ...others } = Object.fromEntries(
    Object.entries(json as Schema.JsonObject).map(([key, value]) => [key, flat(value)])
  )
  const merged = Array.isArray(allOf) ? withRemarks(others, allOf) : allOf === undefined ? others : { ...others, allOf }
  return isFieldless(merged)
    ? { type: "object", properties: {}, additionalProperties: false, ...remarksOf(merged) }
    : merged
}

const withRemarks = (others: Schema.JsonObject, allOf: ReadonlyArray<Schema.Json>): Schema.JsonObject => {
  const isRemark = (member: Schema.Json): member is { readonly description: Schema.Json } =>
    Predicate.isObject(member) && Object.keys(member).join() === "description"
  const remarks = allOf.filter(isRemark).map((member) => String(member.description))
  const rest = allOf.filter((member) => !isRemark(member))
  const description = [...(Predicate.isString(others["description"]) ? [others["description"]] : []), ...remarks]
  return {
    ...others,
    ...(description.length === 0 ? {} : { description: description.join("\n") }),
    ...(rest.length === 0 ? {} : { allOf: rest })
  }
}

/** Whether the schema is that of a record which admits no key. `within` makes such a record of a struct without fields. */
const isFieldless = ({ additionalProperties, patternProperties, propertyNames, type }: Schema.JsonObject): boolean =>
  type === "object" && additionalProperties === false && patternProperties === undefined && propertyNames !== undefined

const remarksOf = ({ description, title }: Schema.JsonObject) => ({
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description })
})

/** Decodes the JSON form of a value by a schema. */
export type Decode = (value: Schema.Json) => Result.Result<unknown, SchemaIssue.Issue>

export const decoder = (schema: Schema.Codec<unknown, unknown>): Decode => {
  const read = reader(schema)
  return (value) => {
    const now = read(value)
    // decoding may be an effect that ends at once; an effect that has to wait is a defect
    return Result.isResult(now) ? now : Effect.runSync(now)
  }
}

/**
 * A schema as a model reads it: the JSON form of `schema`. A number is a finite number, since JSON has neither `NaN` nor infinities, and a
 * date states its format. The JSON Schema that a model reads and the decoder of its answers are both made of this schema, so the decoder
 * accepts exactly what the JSON Schema says.
 *
 * @internal
 */
export const modelSchema = <T, RD, RE>(schema: Schema.Codec<T, unknown, RD, RE>): Schema.Codec<T, unknown, RD, RE> =>
  Schema.make(inWords(Schema.toCodecJson(schema).ast))

const inWords = (root: SchemaAST.AST): SchemaAST.AST => {
  // each node is converted once, because a schema may refer to itself
  const converted = new Map<SchemaAST.AST, SchemaAST.AST>()
  const of = (ast: SchemaAST.AST): SchemaAST.AST => {
    const made = converted.get(ast)
    if (made !== undefined) return made
    const after = ast.encoding === undefined ? alone(within(ast, of)) : encoded(ast, ast.encoding, of)
    converted.set(ast, after)
    return after
  }
  return of(root)
}

const alone = (ast: SchemaAST.AST) => described(ast, ast)

type Each = (ast: SchemaAST.AST) => SchemaAST.AST

/** Converts a node with an encoding. Only the last form of the encoding is changed, because that is what a model writes. */
const encoded = (ast: SchemaAST.AST, encoding: SchemaAST.Encoding, each: Each): SchemaAST.AST => {
  const last = encoding[encoding.length - 1] ?? encoding[0]
  if (last.transformation === asText())
    return alone(
      altered(ast, { encoding: undefined, checks: [...(Schema.Finite.ast.checks ?? []), ...(ast.checks ?? [])] })
    )
  const format = formats[idOf(ast)]?.()
  const to = described(
    format !== undefined && SchemaAST.isString(last.to) ? altered(last.to, format) : each(last.to),
    ast
  )
  // Mutant `false` survives: speed only. An equal schema is made
  return to === last.to
    ? ast
    : altered(ast, { encoding: [...encoding.slice(0, -1), new SchemaAST.Link(to, last.transformation)] })
}

/** Adds a description to the form that a model writes: its own or that of the value, and the checks that JSON Schema cannot express. */
const described = (to: SchemaAST.AST, value: SchemaAST.AST): SchemaAST.AST => {
  const own = SchemaAST.resolveDescription(to) ?? SchemaAST.resolveDescription(value)
  const wanted = to === value ? unexpressed(to.checks) : [...unexpressed(to.checks), ...unexpressed(value.checks)]
  const description = [...(own === undefined ? [] : [own]), ...wanted.map((one) => `Wanted: ${one}`)].join("\n")
  if (description === "" || description === SchemaAST.resolveDescription(to)) return to
  // `description` has the descriptions of the checks already, so they are removed there
  const checks = to.checks?.map((check) => check.annotate({ description: undefined }))
  return altered(to, { annotations: { ...to.annotations, description }, checks })
}

/** The texts of the checks that JSON Schema cannot express, if the checks have texts. */
const unexpressed = (checks: SchemaAST.Checks | undefined): ReadonlyArray<string> =>
  // Mutant `["Stryker was here"]` survives: a text has no annotations
  (checks ?? []).flatMap((check) => {
    if (check._tag === "FilterGroup") return unexpressed(check.checks)
    const { expected, toJsonSchema } = check.annotations ?? {}
    return typeof expected !== "string" || isExpressed(toJsonSchema) ? [] : [expected]
  })

/** Whether a check is part of the JSON Schema. A function that throws here needs to know the type, and counts as part of it. */
const isExpressed = (toJsonSchema: unknown): boolean =>
  typeof toJsonSchema === "function" && !Array.isArray(quietly(() => toJsonSchema(), undefined))

const within = (ast: SchemaAST.AST, each: Each): SchemaAST.AST => {
  if (SchemaAST.isObjects(ast)) {
    // Effect's struct without fields admits any value, so a record without keys replaces it
    if (ast.propertySignatures.length + ast.indexSignatures.length === 0)
      return altered(ast, { indexSignatures: noKey().indexSignatures })
    return altered(ast, {
      propertySignatures: ast.propertySignatures.map(
        ({ name, type }) => new SchemaAST.PropertySignature(name, each(type))
      ),
      indexSignatures: ast.indexSignatures.map(
        ({ parameter, type }) => new SchemaAST.IndexSignature(parameter, each(type))
      )
    })
  }
  if (SchemaAST.isArrays(ast)) return altered(ast, { elements: ast.elements.map(each), rest: ast.rest.map(each) })
  if (SchemaAST.isUnion(ast)) return altered(ast, { types: ast.types.map(each) })
  if (SchemaAST.isSuspend(ast))
    return new SchemaAST.Suspend(() => each(ast.thunk()), ast.annotations, undefined, undefined, ast.context)
  return ast
}

/** A record that admits no key. */
const noKey = once(() => Schema.Record(Schema.String.check(Schema.isPattern(/^(?!)/)), Schema.Never).ast)

/** Copies a node with other fields. Effect keeps what it has compiled of a node outside of the node, so the copy does not share it. */
const altered = <A extends SchemaAST.AST>(ast: A, fields: object): A =>
  Object.assign(Object.create(Object.getPrototypeOf(ast)), ast, fields)

/** The transformation by which Effect encodes a number that may be infinite or `NaN`: as a number or as text. */
const asText = once(() => Schema.toCodecJson(Schema.Number).ast.encoding?.[0].transformation)

const idOf = ({ annotations }: SchemaAST.AST): string => {
  const representation = annotations?.["representation"]
  return typeof representation === "object" && representation !== null && "id" in representation
    ? String(representation.id)
    : ""
}

/** Matches a date and time with an offset (RFC 3339), which means the same instant on every machine. */
const dateTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)$/

const instant = once(() => ({
  // Mutant `""` survives: it is made once, without a mutant
  annotations: { format: "date-time" },
  checks: [
    Schema.makeFilter((text: string) => dateTime.test(text) || "Expected a date and time such as 2026-11-24T09:30:00Z")
  ]
}))

/** The format of a text that encodes a value, by the id of the value's type. */
const formats: Readonly<Record<string, () => object>> = {
  "effect/schema/Date": instant,
  "effect/schema/DateTimeUtc": instant,
  "effect/schema/URL": () => ({ annotations: { format: "uri" } })
}
