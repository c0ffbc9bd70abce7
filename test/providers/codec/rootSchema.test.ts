/** The parameters of a tool in the form of providers: any schema becomes an object at the root. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { parametersRoot } from "../../../packages/providers/src/codec/rootSchema.ts"
import { specOf } from "../_support/toolSpecs.ts"

const { Array: List, Finite, Literal, Struct, String: Text, Union, optionalKey } = Schema

const rootOf = (schema: Schema.Codec<unknown, unknown>) => parametersRoot(specOf("", schema).parameters)

const closed = (properties: object, required: ReadonlyArray<string>) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

describe("the schema of parameters", () => {
  it("is absent where a keyword restricts values to what is no object", () => {
    for (const word of [
      { type: "string" },
      { enum: [{}] },
      { const: {} },
      { allOf: [{}] },
      { not: { type: "string" } },
      { anyOf: [] },
      { oneOf: [] }
    ]) {
      assert.isUndefined(parametersRoot(word), JSON.stringify(word))
    }
    assert.deepStrictEqual<unknown>(parametersRoot({ title: "any" }), { title: "any", type: "object" })
  })

  it("is that of an object, as it is", () => {
    const { parameters } = specOf("", Struct({ a: Text, b: optionalKey(Finite) }))
    assert.deepStrictEqual(parametersRoot(parameters), parameters)
    const record = specOf("", Schema.Record(Text, Finite)).parameters
    assert.deepStrictEqual(parametersRoot(record), record)
  })

  it("is an empty object for a struct without fields, and any object for a schema without a type", () => {
    assert.deepStrictEqual<unknown>(rootOf(Struct({})), closed({}, []))
    assert.deepStrictEqual<unknown>(rootOf(Schema.Unknown), { type: "object" })
    assert.deepStrictEqual<unknown>(parametersRoot({ properties: { a: { type: "string" } } }), {
      type: "object",
      properties: { a: { type: "string" } }
    })
  })

  it("is the definition that the root refers to, with its remarks", () => {
    const named = Struct({ a: Text }).annotate({ identifier: "A b/c" })
    const list = specOf("", named).parameters
    assert.deepStrictEqual<unknown>(parametersRoot(list), {
      ...closed({ a: { type: "string" } }, ["a"]),
      $defs: list["$defs"]
    })
  })

  it("is for a union of objects one that each member fits, with the union in the description", () => {
    const byName = Struct({ by: Literal("name"), name: Text, more: optionalKey(Text) })
    const byPosition = Struct({ by: Literal("position"), lat: Finite, lon: Finite, more: optionalKey(Finite) })
    const root = rootOf(Union([byName, byPosition]).annotate({ description: "Whom?" }))
    assert.deepStrictEqual(root?.["required"], ["by"])
    assert.deepStrictEqual<unknown>(root?.["properties"], {
      by: {
        anyOf: [
          { type: "string", enum: ["name"] },
          { type: "string", enum: ["position"] }
        ]
      },
      name: { type: "string" },
      more: { anyOf: [{ type: "string" }, { type: "number" }] },
      lat: { type: "number" },
      lon: { type: "number" }
    })
    assert.strictEqual(root?.["additionalProperties"], false)
    assert.notProperty(root, "anyOf")
    const said = String(root?.["description"])
    assert.isTrue(said.startsWith("Whom?\n\n"))
    assert.include(said, JSON.stringify(specOf("", byPosition).parameters))
  })

  it("is one object for choices within a choice, and behind references", () => {
    const a = Struct({ a: Text }).annotate({ identifier: "A" })
    const inner = Union([a, Struct({ b: Text })]).annotate({ identifier: "Inner" })
    const root = rootOf(Union([inner, Struct({ c: List(a) })]))
    assert.deepStrictEqual(Object.keys(Object(root?.["properties"])), ["a", "b", "c"])
    assert.property(root, "$defs")
  })

  it("takes the object out of a union", () => {
    const { parameters } = specOf("", Struct({ a: Text }))
    assert.deepStrictEqual(rootOf(Schema.NullOr(Struct({ a: Text }))), parameters)
    assert.deepStrictEqual(rootOf(Union([Text, Struct({ a: Text })])), parameters)
  })

  it("is none where no object fits", () => {
    for (const schema of [Text, List(Text), Schema.Literals(["a"]), Schema.NullOr(Text)]) {
      assert.isUndefined(rootOf(schema))
    }
    assert.isUndefined(parametersRoot({ $ref: "#/$defs/A" }))
    assert.isUndefined(parametersRoot({ $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } } }))
    assert.isUndefined(parametersRoot({ $ref: "#/$defs/%", $defs: { A: { type: "object" } } }))
    assert.isUndefined(
      parametersRoot({ anyOf: [{ $ref: "#/$defs/A" }], $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }] } } })
    )
  })

  it("is total, and never has a choice or a reference at its root", () => {
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 1, "object", "string", "#/$defs/a", "#/$defs/b"),
        fc.array(tie("json"), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom("type", "anyOf", "oneOf", "$ref", "$defs", "properties", "required", "not", "a", "b"),
          tie("json")
        )
      )
    }))
    fc.assert(
      fc.property(json, json, (schema, definition) => {
        if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return
        // what was made above is JSON
        const given = { ...schema, $defs: { a: definition, b: schema } } as Schema.JsonObject
        const root = parametersRoot(given)
        if (root === undefined) return
        assert.strictEqual(root["type"], "object")
        assert.notProperty(root, "$ref")
      })
    )
  })
})
