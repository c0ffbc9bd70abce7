/** One schema of each kind that a tool may take, with a value of it as a model writes it. */
import { Schema } from "effect"

interface Tree {
  readonly value: number
  readonly children: ReadonlyArray<Tree>
}

const Tree: Schema.Codec<Tree> = Schema.Struct({
  value: Schema.Number,
  children: Schema.Array(Schema.suspend(() => Tree))
})

class Point extends Schema.Class<Point>("Point")({ x: Schema.Number, y: Schema.Number }) {}

type Kind = readonly [schema: Schema.Codec<unknown, unknown>, fits: Schema.Json]

export const schemaKinds: Readonly<Record<string, Kind>> = {
  String: [Schema.String, "a"],
  NonEmptyString: [Schema.NonEmptyString, "a"],
  "String, with a pattern": [Schema.String.check(Schema.isPattern(/^x+$/)), "xx"],
  "String, a UUID": [Schema.String.check(Schema.isUUID()), "123e4567-e89b-42d3-a456-426614174000"],
  TemplateLiteral: [Schema.TemplateLiteral(["a-", Schema.Int]), "a-1"],
  Number: [Schema.Number, 1.5],
  "Number, positive": [Schema.Number.check(Schema.isGreaterThan(0)), 1.5],
  Finite: [Schema.Finite, 1.5],
  Int: [Schema.Int, 2],
  NumberFromString: [Schema.NumberFromString, "1.5"],
  Boolean: [Schema.Boolean, true],
  Null: [Schema.Null, null],
  BigInt: [Schema.BigInt, "12"],
  Literal: [Schema.Literal("a"), "a"],
  "Literals, of text": [Schema.Literals(["a", "b"]), "b"],
  "Literals, of numbers": [Schema.Literals([1, 2]), 2],
  Date: [Schema.Date, "2026-11-24T09:30:00Z"],
  DateTimeUtc: [Schema.DateTimeUtc, "2026-11-24T09:30:00+01:00"],
  Duration: [Schema.Duration, { _tag: "Millis", value: 5 }],
  DurationFromMillis: [Schema.DurationFromMillis, 5],
  URL: [Schema.URL, "https://example.org/"],
  Uint8Array: [Schema.Uint8Array, "YQ=="],
  Array: [Schema.Array(Schema.Number), [1]],
  NonEmptyArray: [Schema.NonEmptyArray(Schema.Number), [1]],
  Tuple: [Schema.Tuple([Schema.String, Schema.Number]), ["a", 1]],
  Record: [Schema.Record(Schema.String, Schema.Number), { a: 1 }],
  Struct: [Schema.Struct({ a: Schema.String, b: Schema.Number }), { a: "a", b: 1 }],
  "Struct, without fields": [Schema.Struct({}), {}],
  "Struct, with an optional key": [Schema.Struct({ a: Schema.optionalKey(Schema.Number) }), {}],
  "Struct, with an optional value": [Schema.Struct({ a: Schema.optional(Schema.Number) }), { a: null }],
  Class: [Point, { x: 1, y: 2 }],
  NullOr: [Schema.NullOr(Schema.Number), null],
  "Union, of unlike": [Schema.Union([Schema.String, Schema.Number]), 1],
  "Union, by tag": [
    Schema.Union([Schema.TaggedStruct("A", { a: Schema.Number }), Schema.TaggedStruct("B", {})]),
    { _tag: "A", a: 1 }
  ],
  Option: [Schema.Option(Schema.Number), { _tag: "Some", value: 1 }],
  "a schema that refers to itself": [Tree, { value: 1, children: [{ value: 2, children: [] }] }],
  Unknown: [Schema.Unknown, { any: ["thing"] }]
}
