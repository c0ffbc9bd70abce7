/** JSON Schemas of strangers as parameters of tools. */
import { assert, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as RawSchema from "@kintsugi/core/RawSchema"
import { Effect, Schema } from "effect"

const tool = (parameters: RawSchema.RawSchema) =>
  Tool.make("look", {
    description: "Gives back what it got.",
    parameters: RawSchema.make(parameters),
    success: Schema.Json,
    run: (params) => Effect.succeed(params)
  })

const issuesOf = (parameters: RawSchema.RawSchema, raw: Schema.Json) =>
  Effect.map(Effect.flip(Tool.call(tool(parameters), raw)), (error) => {
    assert(error instanceof ToolError.DeserializationError)
    return error.issues.map(({ path }) => path.join("."))
  })

const city: RawSchema.RawSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: {
    city: { type: "string", minLength: 2, "x-hint": "a name" },
    days: { type: "integer", minimum: 1, default: 3 },
    unit: { enum: ["C", "F"] }
  },
  required: ["city"]
}

it("a model reads the JSON Schema of a foreign tool word for word [P1107]", () => {
  assert.deepStrictEqual(tool(city).definition.spec().parameters, city)
  assert.strictEqual(RawSchema.of(Schema.String), undefined)
  const whole = RawSchema.whole(city)
  assert(whole !== undefined)
  assert.deepStrictEqual(RawSchema.of(whole), city)
})

it.effect("arguments are checked against the JSON Schema of a foreign tool, and coerced to it [P1107]", () =>
  Effect.gen(function* () {
    const call = (raw: Schema.Json) => Tool.call(tool(city), raw)
    // what the schema does not name passes, as JSON Schema has it
    assert.deepStrictEqual(yield* call({ city: "Oslo", more: [1] }), { city: "Oslo", more: [1] })
    assert.deepStrictEqual(yield* call('```json\n{"city": "Oslo", "days": "2", "unit": null,}\n```'), {
      city: "Oslo",
      days: 2
    })
    assert.deepStrictEqual(yield* issuesOf(city, { city: "O", days: 0, unit: "K" }), ["city", "days", "unit"])
    assert.deepStrictEqual(yield* issuesOf(city, {}), ["city"])
    const closed = tool({ ...city, additionalProperties: false })
    assert.deepStrictEqual(yield* Tool.call(closed, { city: "Oslo", more: [1] }), { city: "Oslo" })
  })
)

it.effect("definitions are followed, those of both drafts and those that name themselves [P1107]", () =>
  Effect.gen(function* () {
    const tree = (where: string): RawSchema.RawSchema => ({
      type: "object",
      properties: { root: { $ref: `#/${where}/Tree` } },
      required: ["root"],
      [where]: {
        Tree: {
          type: "object",
          properties: { name: { type: "string" }, children: { type: "array", items: { $ref: `#/${where}/Tree` } } },
          required: ["name"]
        }
      }
    })
    const good = { root: { name: "a", children: [{ name: "b", children: [] }] } }
    for (const schema of [tree("$defs"), tree("definitions")]) {
      assert.deepStrictEqual(yield* Tool.call(tool(schema), good), good)
      assert.deepStrictEqual(yield* issuesOf(schema, { root: { name: "a", children: [{ name: "b" }, 2] } }), [
        "root.children.1"
      ])
    }
  })
)

it.effect("what cannot be read in a JSON Schema is open, and the rest of it is checked [P1107]", () =>
  Effect.gen(function* () {
    const odd: RawSchema.RawSchema = {
      type: "object",
      properties: {
        city: { type: "string" },
        remote: { $ref: "https://example.com/schema.json" },
        shape: { const: { a: 1 } },
        slow: { type: "string", pattern: "^(a+)+$" }
      },
      required: ["city", "remote"]
    }
    const passing = { city: "Oslo", remote: [1, { b: null }], shape: 5, slow: `${"a".repeat(50)}!` }
    assert.deepStrictEqual(yield* Tool.call(tool(odd), passing), passing)
    assert.deepStrictEqual(yield* issuesOf(odd, { city: true }), ["city", "remote"])
    assert.strictEqual(RawSchema.whole(odd), undefined)
    // no object at all, and nothing to read in it
    for (const empty of [{}, { $ref: "#/nowhere" }, { type: "object", properties: 3, required: "city" }])
      assert.deepStrictEqual(yield* Tool.call(tool(empty), { a: 1 }), { a: 1 })
  })
)
