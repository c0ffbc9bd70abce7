/** JSON Schema in the keywords that Gemini takes. */
import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import { Effect, Schema } from "effect"
import { adapted } from "../../../../packages/providers/src/codec/gemini/schema.ts"
import { schemaKinds } from "../../../_support/schemaKinds.ts"

/** As Google documents them for `responseJsonSchema`. */
const documented = new Set([
  "$id",
  "$defs",
  "$ref",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "oneOf",
  "properties",
  "additionalProperties",
  "required"
])

const encode = (parameters: Schema.JsonObject) => {
  const { encode } = GeminiContent.make({ provider: "gemini", model: "gemini-3-pro-preview", secrets: [] })
  const tools = [{ name: "look", description: "Looks.", parameters }]
  const output = { name: "answer", schema: parameters }
  const body = JSON.parse(encode({ messages: [], tools, toolChoice: "auto", output }, "whole"))
  return [
    body.tools[0].functionDeclarations[0].parametersJsonSchema,
    body.generationConfig.responseJsonSchema
  ] as ReadonlyArray<Schema.JsonObject>
}

/** Keywords of a schema and of those within it; names of properties are none. */
const keywordsOf = (schema: unknown): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf)
  return Object.entries(schema).flatMap(([key, value]) => [
    key,
    ...(key === "properties" || key === "$defs"
      ? Object.values(Object(value)).flatMap(keywordsOf)
      : key === "enum" || key === "required"
        ? []
        : keywordsOf(value))
  ])
}

const sentOf = (v: Schema.Codec<unknown, unknown>) =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({ v }),
    success: Schema.String,
    run: () => Effect.succeed("ok")
  }).definition.spec().parameters

describe("the schema for Gemini", () => {
  it("keeps each keyword that is documented, drops what restricts no value, and describes the rest [P1334]", () => {
    for (const word of ["type", "format", "title", "enum", "minItems", "maxItems", "minimum", "maximum", "required"]) {
      assert.deepStrictEqual(adapted({ [word]: 1 }), { [word]: 1 })
    }
    for (const word of ["$schema", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly"]) {
      assert.deepStrictEqual(adapted({ type: "string", [word]: 1 }), { type: "string" })
    }
    const description = 'It fits this JSON Schema: {"multipleOf":1}'
    assert.deepStrictEqual(adapted({ multipleOf: 1 }), { description })
    for (const key of ["items", "additionalProperties"]) {
      assert.deepStrictEqual(adapted({ [key]: { multipleOf: 1 } }), { [key]: { description } })
      assert.deepStrictEqual(adapted({ [key]: true }), { [key]: true })
    }
    for (const key of ["prefixItems", "anyOf", "oneOf"]) {
      assert.deepStrictEqual(adapted({ [key]: [true, { multipleOf: 1 }] }), { [key]: [true, { description }] })
    }
    for (const key of ["properties", "$defs"]) {
      const given = { a: false, multipleOf: { multipleOf: 1 } }
      assert.deepStrictEqual(adapted({ [key]: given }), { [key]: { a: false, multipleOf: { description } } })
      assert.deepStrictEqual(adapted({ [key]: true }), { [key]: true })
    }
  })

  it("has unsupported keywords in the description, and none but documented ones for each kind of schema; a reference stands alone [P1334]", () => {
    const [sent] = encode({
      type: "object",
      description: "All.",
      properties: {
        code: { type: "string", pattern: "^x+$", minLength: 2, description: "A code." },
        ratio: { type: "number", exclusiveMinimum: 0, default: 1 },
        pattern: { type: "string" },
        more: { $ref: "#/$defs/More", description: "More." },
        plain: { $ref: "#/$defs/More" }
      },
      required: ["code"],
      $defs: { More: { type: "array", items: { type: "string", const: "a" }, uniqueItems: true } }
    })
    assert.deepStrictEqual(sent, {
      type: "object",
      description: "All.",
      properties: {
        code: { type: "string", description: 'A code.\nIt fits this JSON Schema: {"pattern":"^x+$","minLength":2}' },
        ratio: { type: "number", description: 'It fits this JSON Schema: {"exclusiveMinimum":0}' },
        pattern: { type: "string" },
        more: { description: "More.", anyOf: [{ $ref: "#/$defs/More" }] },
        plain: { $ref: "#/$defs/More" }
      },
      required: ["code"],
      $defs: {
        More: {
          type: "array",
          items: { type: "string", description: 'It fits this JSON Schema: {"const":"a"}' },
          description: 'It fits this JSON Schema: {"uniqueItems":true}'
        }
      }
    })
    for (const [name, [schema]] of Object.entries(schemaKinds))
      for (const sent of encode(sentOf(schema)))
        assert.deepStrictEqual(
          keywordsOf(sent).filter((key) => !documented.has(key)),
          [],
          name
        )
  })
})
