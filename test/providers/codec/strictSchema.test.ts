/** JSON Schemas in OpenAI's strict dialect, and the way back of what a model writes by them. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Coercion, type Message, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { Effect, Result, Schema } from "effect"
import { objectRoot } from "../../../packages/providers/src/codec/rootSchema.ts"
import { strict } from "../../../packages/providers/src/codec/strictSchema.ts"

const specOf = (parameters: Schema.Codec<unknown, unknown>): Message.ToolSpec["parameters"] => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(parameters, { onExcessProperty: "error" })
  // what a tool sends as its parameters
  const json = schema as Message.ToolSpec["parameters"]
  return Object.keys(definitions).length === 0 ? json : { ...json, $defs: definitions as Schema.Json }
}

const strictly = (parameters: Schema.Codec<unknown, unknown>) => strict(specOf(parameters), { optional: true })

const object = (properties: Record<string, Schema.Json>, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

const text = { type: "string" }

describe("what fits", () => {
  it("has the formats of the dialect, and loses what restricts no value", () => {
    for (const format of ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]) {
      const schema = object({ a: { ...text, format } })
      assert.deepStrictEqual<unknown>(strict(schema, { optional: false }), schema, format)
    }
    for (const word of ["$schema", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"]) {
      const schema = object({ a: { ...text, [word]: "x" } })
      assert.deepStrictEqual<unknown>(strict(schema, { optional: false }), object({ a: text }), word)
    }
    const number = {
      type: "number",
      title: "t",
      description: "d",
      const: 1,
      multipleOf: 1,
      minimum: 0,
      maximum: 2,
      exclusiveMinimum: 0,
      exclusiveMaximum: 2
    }
    const schema = object({ a: number, b: { type: "array", items: text, minItems: 1, maxItems: 2 } })
    assert.deepStrictEqual<unknown>(strict(schema, { optional: false }), schema)
  })

  it("stays as it is", () => {
    const schema = object({
      name: { type: "string", description: "a name", title: "Name", pattern: "^[a-z]+$" },
      born: { type: "string", format: "date" },
      size: { type: "integer", minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
      tags: { type: "array", items: { enum: ["a", "b"] }, minItems: 1, maxItems: 3 },
      more: { anyOf: [object({ x: { type: ["number", "null"] } }), { const: 1 }] }
    })
    assert.deepStrictEqual(strict(schema, { optional: false }), schema)
  })

  it("loses annotations that the dialect does not support", () => {
    const schema = { ...object({ a: { ...text, default: "x", examples: ["y"] } }), $schema: "s", $comment: "c" }
    assert.deepStrictEqual(strict(schema, { optional: false }), object({ a: text }))
  })

  it("is the schema of a struct with lists, choices and unions", () => {
    const schema = Schema.Struct({
      kind: Schema.Literals(["a", "b"]),
      sizes: Schema.Array(Schema.Finite),
      either: Schema.Union([Schema.String, Schema.Struct({ on: Schema.Boolean })]),
      none: Schema.NullOr(Schema.String)
    })
    assert.deepStrictEqual(strictly(schema), specOf(schema))
  })

  it("has the definition of its root at the root, also where it refers to itself", () => {
    interface Tree {
      readonly name: string
      readonly children: ReadonlyArray<Tree>
    }
    const Tree = Schema.Struct({
      name: Schema.String,
      children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
    }).annotate({ identifier: "Tree" })
    const tree = object({ name: text, children: { type: "array", items: { $ref: "#/$defs/Tree" } } })
    assert.deepStrictEqual<unknown>(strictly(Tree), { ...tree, $defs: { Tree: tree } })
  })

  it("has nothing beside a reference", () => {
    const schema = { ...object({ a: { $ref: "#/$defs/A", description: "first" } }), $defs: { A: text } }
    assert.deepStrictEqual<unknown>(strict(schema, { optional: false }), {
      ...object({ a: { description: "first", anyOf: [{ $ref: "#/$defs/A" }] } }),
      $defs: { A: text }
    })
  })

  it("is an empty object for a struct without fields", () => {
    assert.deepStrictEqual<unknown>(strictly(Schema.Struct({})), object({}))
    assert.deepStrictEqual<unknown>(objectRoot(specOf(Schema.Struct({}))), object({}))
  })
})

describe("what does not fit", () => {
  const cannot = (schema: Schema.JsonObject) => assert.isUndefined(strict(schema, { optional: true }))

  it("is an object that is open, a record, a tuple, or anything at all", () => {
    cannot({ type: "object", properties: { a: text }, required: ["a"] })
    cannot({ type: "object", additionalProperties: text })
    cannot(specOf(Schema.Struct({ a: Schema.Record(Schema.String, Schema.String) })))
    cannot(specOf(Schema.Struct({ a: Schema.Tuple([Schema.String, Schema.Int]) })))
    cannot(specOf(Schema.Struct({ a: Schema.Json })))
    cannot(object({ a: { description: "anything" } }))
    cannot(object({ a: true }))
  })

  it("is an unsupported keyword, at any depth", () => {
    for (const word of [
      { minLength: 1 },
      { maxLength: 1 },
      { uniqueItems: true },
      { not: { type: "null" } },
      { allOf: [text] },
      { oneOf: [text] },
      { format: "uri" },
      { pattern: "a(?=b)" },
      { pattern: "(?<!a)b" },
      { if: text },
      { anyOf: [] },
      { additionalProperties: true },
      { additionalProperties: {} },
      { properties: "none" },
      { items: true }
    ]) {
      cannot(object({ a: { ...text, ...word } }))
      cannot(object({ a: { type: "array", items: { anyOf: [{ ...text, ...word }] } } }))
      cannot({ ...object({ a: { $ref: "#/$defs/A" } }), $defs: { A: { ...text, ...word } } })
    }
  })

  it("is a reference to nothing, or to another place", () => {
    cannot(object({ a: { $ref: "#/$defs/A" } }))
    cannot({ ...object({ a: { $ref: "other.json" } }), $defs: { A: text } })
  })

  it("is a root that is not an object", () => {
    for (const schema of [{ type: "array", items: text }, { anyOf: [object({}), object({ a: text })] }, text, {}]) {
      cannot(schema)
      assert.isUndefined(objectRoot(schema))
    }
  })

  it("is a schema beyond the bounds", () => {
    const nested = (depth: number): Schema.JsonObject => object(depth === 0 ? { a: text } : { a: nested(depth - 1) })
    assert.isDefined(strict(nested(9), { optional: false }))
    cannot(nested(10))
    const wide = (size: number) => object(Object.fromEntries(Array.from({ length: size }, (_, i) => [`p${i}`, text])))
    assert.isDefined(strict(wide(5000), { optional: false }))
    cannot(wide(5001))
    const values = (size: number) => object({ a: { enum: Array.from({ length: size }, (_, i) => i) } })
    assert.isDefined(strict(values(1000), { optional: false }))
    cannot(values(1001))
    const named = (length: number) => object({ ["x".repeat(length)]: text })
    assert.isDefined(strict(named(120_000), { optional: false }))
    cannot(named(120_001))
    const valued = (length: number) => object({ a: { enum: ["x".repeat(length)] } })
    assert.isDefined(strict(valued(119_995), { optional: false }))
    cannot(valued(119_996))
  })
})

describe("optional properties", () => {
  const Point = Schema.Struct({ x: Schema.Finite, note: Schema.optionalKey(Schema.String) })
  const Parameters = Schema.Struct({
    name: Schema.String,
    limit: Schema.optionalKey(Schema.Finite),
    mode: Schema.optionalKey(Schema.Literals(["a", "b"])),
    when: Schema.optionalKey(Schema.Date),
    point: Schema.optionalKey(Point),
    points: Schema.Array(Point),
    either: Schema.Union([
      Schema.Struct({ kind: Schema.tag("one"), note: Schema.optionalKey(Schema.String) }),
      Schema.Struct({ kind: Schema.tag("two"), size: Schema.optionalKey(Schema.Finite) })
    ])
  })

  it("become required, and null or what they were", () => {
    assert.deepStrictEqual<unknown>(
      strictly(Point),
      object({
        x: { type: "number" },
        note: { anyOf: [text, { type: "null" }] }
      })
    )
  })

  it("are read as absent if the model writes null, at every depth", () => {
    assert.isDefined(strictly(Parameters))
    const written = {
      name: "n",
      limit: null,
      mode: null,
      when: null,
      point: { x: 1, note: null },
      points: [
        { x: 2, note: null },
        { x: 3, note: "hi" }
      ],
      either: { kind: "two", size: null }
    }
    const decode = Schema.decodeUnknownResult(Schema.toCodecJson(Parameters), {
      errors: "all",
      onExcessProperty: "error"
    })
    const parsed = Result.getOrThrow(Coercion.parse(JSON.stringify(written)))
    const decoded = Coercion.decode(parsed, (value) => Result.mapError(decode(value), ({ issue }) => issue))
    assert(Result.isSuccess(decoded))
    assert.deepStrictEqual<unknown>(decoded.success.decoded, {
      name: "n",
      point: { x: 1 },
      points: [{ x: 2 }, { x: 3, note: "hi" }],
      either: { kind: "two" }
    })
  })

  it("that may already be null become ambiguous", () => {
    for (const property of [
      Schema.NullOr(Schema.String),
      Schema.Null,
      Schema.NullOr(Schema.Struct({ a: Schema.String }).annotate({ identifier: "A" })),
      Schema.NullOr(Schema.Struct({ a: Schema.String })).annotate({ identifier: "B" })
    ]) {
      assert.isDefined(strictly(Schema.Struct({ a: property })))
      assert.isUndefined(strictly(Schema.Struct({ a: Schema.optionalKey(property) })))
    }
    for (const property of [{ type: ["string", "null"] }, { enum: ["a", null] }, { const: null }]) {
      assert.isUndefined(strict(object({ a: property }, []), { optional: true }))
    }
  })

  it("do not fit where nothing reads null as absence", () => {
    assert.isUndefined(strict(specOf(Point), { optional: false }))
  })

  it.effect("a tool whose arguments are not mended this way declares that it keeps nulls", () =>
    Effect.gen(function* () {
      const tool = (name: string, coercion?: ReadonlyArray<Coercion.CoercionStep>) =>
        Tool.make(name, {
          description: "Looks.",
          parameters: Point,
          success: Schema.String,
          ...(coercion === undefined ? {} : { coercion }),
          run: () => Effect.succeed("")
        })
      const tools = [tool("all"), tool("some", ["drop-empty"]), tool("none", []), tool("other", ["unwrap-json"])]
      const agent = Agent.make("looker", { skills: [Skill.make("look", { description: "Looks.", tools })] })
      const model = yield* ScriptedModel.make(ScriptedModel.text("done"))
      yield* agent("go").pipe(Effect.provide(model.layer))
      const codec = OpenAiResponses.make({ provider: "openai", model: "m", secrets: [] })
      const request = model.requests[0]
      assert(request !== undefined)
      const sent: ReadonlyArray<{ name: string; strict: boolean }> = JSON.parse(codec.encode(request, "whole")).tools
      assert.deepStrictEqual(Object.fromEntries(sent.slice(0, 4).map(({ name, strict }) => [name, strict])), {
        all: true,
        some: true,
        none: false,
        other: false
      })
    })
  )
})
