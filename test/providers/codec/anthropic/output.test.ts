/** How a request to Anthropic asks for an output that fits a schema. */
import { assert, describe, it } from "@effect/vitest"
import type * as Model from "@kintsugi/core/Model"
import type * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import type { Schema } from "effect"
import { encode } from "./_support/requests.ts"

describe("the output", () => {
  const formatOf = (schema: Model.OutputSpec["schema"], parameters?: Parameters<typeof AnthropicMessages.make>[1]) =>
    encode({ output: { name: "report", schema } }, parameters).output_config

  it("goes as output_config in the provider's dialect, unsupported keywords in the description [P301]", () => {
    const schema: Model.OutputSpec["schema"] = {
      type: "object",
      $schema: "x",
      properties: {
        name: { type: "string", description: "Its name.", minLength: 2, allOf: [{ pattern: "^a" }] },
        at: { type: "string", format: "date-time" },
        odd: { type: "string", format: "regex" },
        count: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: 5 },
        tags: { type: "array", items: { $ref: "#/$defs/Tag" }, minItems: 1 },
        either: { oneOf: [{ type: "null" }, { type: "object", properties: {} }] }
      },
      required: ["name"],
      additionalProperties: false,
      $defs: { Tag: { type: "string", enum: ["a"] } }
    }
    assert.deepStrictEqual(formatOf(schema), {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            name: { type: "string", description: 'Its name.\n\n{"pattern":"^a","minLength":2}' },
            at: { type: "string", format: "date-time" },
            odd: { type: "string", description: '{"format":"regex"}' },
            count: { type: "integer", description: '{"maximum":5}' },
            tags: { type: "array", items: { $ref: "#/$defs/Tag" }, minItems: 1 },
            either: { anyOf: [{ type: "null" }, { type: "object", properties: {}, additionalProperties: false }] }
          },
          required: ["name"],
          additionalProperties: false,
          $defs: { Tag: { type: "string", enum: ["a"] } }
        }
      }
    })
  })

  it("has every shape, format and constraint in the dialect or in the description, and leaves out annotations [P301]", () => {
    const ofField = (field: Schema.JsonObject) => {
      const schema = formatOf({ type: "object", properties: { a: field } })?.format?.schema
      return schema?.properties.a
    }
    const formats = ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]
    for (const said of [
      { type: "string", title: "A" },
      { enum: ["a", "b"] },
      { const: "a" },
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { type: "array", items: { type: "string" }, minItems: 0 },
      { type: "array", items: { type: "string" }, minItems: 1 },
      ...formats.map((format) => ({ type: "string", format }))
    ]) {
      assert.deepStrictEqual(ofField(said), said)
    }
    const constraints: Schema.JsonObject = {
      format: "regex",
      pattern: "^a",
      minLength: 1,
      maxLength: 2,
      minimum: 1,
      maximum: 2,
      exclusiveMinimum: 0,
      exclusiveMaximum: 3,
      multipleOf: 2,
      minItems: 2,
      maxItems: 3,
      uniqueItems: true,
      minProperties: 1,
      maxProperties: 2,
      default: "a"
    }
    for (const [name, value] of Object.entries(constraints)) {
      const described = { type: "string", description: JSON.stringify({ [name]: value }) }
      assert.deepStrictEqual(ofField({ type: "string", [name]: value }), described)
      assert.deepStrictEqual(ofField({ type: "string", allOf: [{ [name]: value }] }), described)
    }
    const nothing = { $schema: "s", $comment: "c", $id: "i", examples: ["a"] }
    assert.deepStrictEqual(ofField({ type: "string", ...nothing, allOf: [nothing, null] }), { type: "string" })
    const every = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    assert.deepStrictEqual(ofField({ type: "integer", ...every }), { type: "integer" })
    const empty = { type: "object", properties: {}, additionalProperties: false }
    for (const more of [{ additionalProperties: false }, { properties: null }]) {
      assert.deepStrictEqual(ofField({ type: "object", ...more }), empty)
    }
  })

  it("follows what refers to a definition, and finds the one that contains itself [P301]", () => {
    const root = (a: Schema.JsonObject, $defs: Schema.JsonObject) => ({ type: "object", properties: { a }, $defs })
    const text = { type: "string" }
    const twice = { anyOf: [{ $ref: "#/$defs/T" }, { $ref: "#/$defs/T" }] }
    assert.isDefined(formatOf(root(twice, { T: text })))
    for (const [name, pointer] of [
      ["a/b", "a~1b"],
      ["a~b", "a~0b"],
      ["a b", "a%20b"],
      ["a%b", "a%b"]
    ] as const) {
      const itself = { type: "object", properties: { kid: { $ref: `#/$defs/${pointer}` } } }
      assert.isUndefined(formatOf(root({ $ref: `#/$defs/${pointer}` }, { [name]: itself })), name)
      assert.isDefined(formatOf(root({ $ref: `#/$defs/${pointer}` }, { [name]: text })), name)
    }
    const late = { anyOf: [text, { $ref: "#" }] }
    assert.isUndefined(formatOf(root(late, {})))
    // each definition is read once, or this would not end
    const pairs = Array.from({ length: 40 }, (_, at): readonly [string, Schema.JsonObject] => {
      const next = at === 39 ? text : { $ref: `#/$defs/D${at + 1}` }
      return [`D${at}`, { type: "object", properties: { a: next, b: next } }]
    })
    assert.isDefined(formatOf(root({ $ref: "#/$defs/D0" }, Object.fromEntries(pairs))))
  })

  it("is left out if the dialect cannot express it, or the user sets a format [P301]", () => {
    const object = (properties: Schema.JsonObject, more: Schema.JsonObject = {}) => ({
      type: "object",
      properties,
      ...more
    })
    const tree = object({ kids: { type: "array", items: { $ref: "#/$defs/T" } } })
    for (const schema of [
      { type: "array", items: { type: "string" } },
      object({ record: { type: "object", additionalProperties: { type: "string" } } }),
      object({ anything: {} }),
      object({ pair: { type: "array", prefixItems: [{ type: "string" }] } }),
      object({ all: { allOf: [{ type: "string" }] } }),
      object({ all: { type: "string", allOf: [{ minLength: 1 }, { minLength: 1, type: "string" }] } }),
      object({ none: { title: "A" } }),
      object({ truth: true }),
      object({ nothing: null }),
      object({ list: { type: "array", items: {} } }),
      object({ one: { anyOf: [{ type: "string" }, {}] } }),
      object({ one: { oneOf: [{ type: "string" }, {}] } }),
      object({ loose: { type: "object", additionalProperties: true } }),
      object({ other: { type: "string", contentEncoding: false } }),
      object({}, { $defs: { T: {} } }),
      object({ self: { $ref: "#" } }),
      object({ tree: { $ref: "#/$defs/T" } }, { $defs: { T: tree } })
    ]) {
      assert.isUndefined(formatOf(schema), JSON.stringify(schema))
    }
    const own = { type: "json_schema", schema: { type: "object" } }
    assert.deepStrictEqual(formatOf(object({}), { extra: { output_config: { format: own } } }), { format: own })
    assert.strictEqual(formatOf(object({}), { reasoning: "low" }).effort, "low")
  })
})
