/** Schemas of OpenAPI documents as JSON Schemas that stand alone. */
import { assert, describe, it } from "@effect/vitest"
import { cut, DocumentSchemas } from "../../../packages/interop/src/api/documentSchema.ts"
import { References } from "../../../packages/interop/src/api/pointer.ts"
import { thrown } from "./_support/errors.ts"

const unbounded = { depth: 100, nodes: 1000, bytes: 1_000_000 }

const schemasOf = (
  root: Readonly<Record<string, unknown>>,
  {
    bounds = {},
    isOld = false,
    limit = 1000
  }: { readonly bounds?: Partial<typeof unbounded>; readonly isOld?: boolean; readonly limit?: number } = {}
) => {
  const total = { what: "The document", limit, nodes: 0 }
  const schemas = new DocumentSchemas(new References("pets", root), {
    bounds: { ...unbounded, ...bounds },
    total,
    what: "The schema",
    isOld
  })
  return { schemas, total }
}

/** A schema as it is converted, and how many nodes it counts. */
const converted = (value: unknown, isOld = false) => {
  const { schemas, total } = schemasOf({}, { isOld })
  return { json: schemas.schema({ value, pointer: "#/s" }), nodes: total.nodes }
}

const jsonOf = (value: unknown, isOld = false) => converted(value, isOld).json

describe("a schema", () => {
  const plain = {
    const: 1,
    default: [1],
    dependentRequired: { a: ["b"] },
    enum: [1, null],
    exclusiveMaximum: 9,
    exclusiveMinimum: 1,
    format: "date",
    maximum: 8,
    maxItems: 1,
    maxLength: 2,
    maxProperties: 3,
    minimum: 2,
    minItems: 1,
    minLength: 2,
    minProperties: 3,
    multipleOf: 2,
    pattern: "a",
    required: ["a"],
    type: "string",
    uniqueItems: true
  }

  it("has the keywords that say something about values, with converted schemas: one, a list, or by name [P1794]", () => {
    const others = { example: 1, xml: {}, deprecated: true, $id: "x", $anchor: "y", $defs: {}, externalDocs: {} }
    assert.deepStrictEqual(jsonOf({ ...plain, ...others }), plain)
    const inner = { type: "string", example: "x" }
    const clean = { type: "string" }
    const single =
      "items additionalItems additionalProperties contains else if not propertyNames then unevaluatedItems unevaluatedProperties"
    for (const key of single.split(" ")) {
      assert.deepStrictEqual(jsonOf({ [key]: inner }), { [key]: clean })
      assert.deepStrictEqual(jsonOf({ [key]: false }), { [key]: false })
      assert.deepStrictEqual(jsonOf({ [key]: true }), { [key]: true })
      for (const odd of [[inner], "x", 1, null]) assert.deepStrictEqual(jsonOf({ [key]: odd }), {})
    }
    for (const key of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
      assert.deepStrictEqual(jsonOf({ [key]: [inner, false, "x"] }), { [key]: [clean, false, true] })
      for (const odd of [[], inner, "x"]) assert.deepStrictEqual(jsonOf({ [key]: odd }), {})
    }
    for (const key of ["patternProperties", "properties", "dependentSchemas"]) {
      assert.deepStrictEqual(jsonOf({ [key]: { a: inner, b: false, c: 1 } }), {
        [key]: { a: clean, b: false, c: true }
      })
      for (const odd of [[inner], "x"]) assert.deepStrictEqual(jsonOf({ [key]: odd }), {})
    }
  })

  it("that is no object admits everything, unless it is false [P1794]", () => {
    assert.deepStrictEqual(
      [true, false, null, [], "x", 0].map((value) => jsonOf(value)),
      [true, false, true, true, true, true]
    )
  })

  it("has texts that are cut to 1,024 characters, and no other title or description [P1796]", () => {
    const long = "x".repeat(1025)
    assert.strictEqual(cut("x".repeat(1024)), "x".repeat(1024))
    assert.strictEqual(cut(long), `${"x".repeat(1024)}…`)
    assert.deepStrictEqual(jsonOf({ title: long, description: "so" }), { title: cut(long), description: "so" })
    assert.deepStrictEqual(jsonOf({ title: 1, description: {} }), {})
  })

  it("lacks the properties that only answers have [P1794]", () => {
    const properties = { id: { readOnly: true }, name: { readOnly: false }, odd: { readOnly: "true" } }
    assert.deepStrictEqual(jsonOf({ properties, required: ["id", "name", 1] }), {
      properties: { name: {}, odd: {} },
      required: ["name", 1]
    })
    assert.deepStrictEqual(jsonOf({ required: ["id"], properties: { id: { readOnly: true } } }), {
      properties: {},
      required: []
    })
    assert.deepStrictEqual(jsonOf({ properties: { id: { readOnly: true } } }), { properties: {} })
    assert.deepStrictEqual(jsonOf({ properties, required: "id" }), {
      properties: { name: {}, odd: {} },
      required: "id"
    })
    // only a property can be read only
    const patternProperties = { a: { readOnly: true } }
    assert.deepStrictEqual(jsonOf({ patternProperties, required: ["a"] }), {
      patternProperties: { a: {} },
      required: ["a"]
    })
  })

  it("of version 3.0 says in the words of JSON Schema what may be null, and which bounds are exclusive [P1794]", () => {
    const old = (value: object) => jsonOf(value, true)
    assert.deepStrictEqual(old({ type: "string", nullable: true }), { type: ["string", "null"] })
    assert.deepStrictEqual(old({ type: "string", nullable: true, enum: ["a"] }), {
      type: ["string", "null"],
      enum: ["a", null]
    })
    assert.deepStrictEqual(old({ type: "string", nullable: true, enum: "a" }), { type: ["string", "null"], enum: "a" })
    assert.deepStrictEqual(old({ nullable: true, enum: ["a"] }), { anyOf: [{ enum: ["a"] }, { type: "null" }] })
    assert.deepStrictEqual(old({ type: "string", nullable: false }), { type: "string" })
    assert.deepStrictEqual(old({ type: "string", nullable: "true" }), { type: "string" })
    assert.deepStrictEqual(old({ minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true }), {
      exclusiveMinimum: 1,
      exclusiveMaximum: 9
    })
    assert.deepStrictEqual(old({ minimum: 1, exclusiveMinimum: false }), { minimum: 1 })
    assert.deepStrictEqual(old({ exclusiveMinimum: true }), {})
    assert.deepStrictEqual(old({ minimum: "1", exclusiveMinimum: true }), { minimum: "1" })
    assert.deepStrictEqual(old({ minimum: 1, exclusiveMinimum: 2 }), { minimum: 1, exclusiveMinimum: 2 })
    // later versions have these words no more
    assert.deepStrictEqual(jsonOf({ type: "string", nullable: true, exclusiveMinimum: true, minimum: 1 }), {
      type: "string",
      exclusiveMinimum: true,
      minimum: 1
    })
  })
})

describe("the references of schemas", () => {
  const root = { a: { items: { $ref: "#/b" } }, b: { $ref: "#/a" }, c: { type: "string" } }

  it("become definitions, each once, and recursive ones end [P1796]", () => {
    const { schemas } = schemasOf(root)
    assert.deepStrictEqual(schemas.definitions(), {})
    const refer = ($ref: unknown) => schemas.schema({ value: { $ref, description: "so" }, pointer: "#/s" })
    assert.deepStrictEqual(refer("#/a"), { $ref: "#/$defs/d1", description: "so" })
    assert.deepStrictEqual(refer("#/c"), { $ref: "#/$defs/d2", description: "so" })
    assert.deepStrictEqual(refer("#/a"), { $ref: "#/$defs/d1", description: "so" })
    assert.deepStrictEqual(refer(5), { description: "so" })
    assert.deepStrictEqual(schemas.definitions(), {
      d1: { items: { $ref: "#/$defs/d3" } },
      d2: { type: "string" },
      d3: { $ref: "#/$defs/d1" }
    })
  })

  it("are refused at their own pointer, in lists and by names [P1796]", () => {
    const { schemas } = schemasOf(root)
    const lost = { $ref: "#/none" }
    for (const [value, pointer] of [
      [lost, "#/s"],
      [{ items: lost }, "#/s/items"],
      [{ anyOf: [{}, lost] }, "#/s/anyOf/1"],
      [{ properties: { a: { not: lost } } }, "#/s/properties/a/not"]
    ] as const) {
      assert.throws(
        () => schemas.schema({ value, pointer: "#/s" }),
        `at ${pointer}: the reference '#/none' leads to nothing`
      )
    }
  })
})

describe("the bounds of schemas", () => {
  /** What a function throws, without its message. */
  const failureOf = (run: () => unknown) => ({ ...thrown(run), message: "" })

  const tooLarge = (what: string, bound: string, limit: number) => ({
    _tag: "InputTooLargeError",
    message: "",
    what,
    bound,
    limit
  })

  it("are levels and nodes of one operation [P1796 P1391]", () => {
    const value = { items: { items: { type: "string" } } }
    const within = (bounds: Partial<typeof unbounded>) => () =>
      schemasOf({}, { bounds }).schemas.schema({ value, pointer: "#" })
    assert.deepStrictEqual(within({ depth: 3 })(), value)
    assert.deepStrictEqual(failureOf(within({ depth: 2 })), tooLarge("The schema", "depth", 2))
    assert.deepStrictEqual(within({ nodes: 3 })(), value)
    assert.deepStrictEqual(failureOf(within({ nodes: 2 })), tooLarge("The schema", "nodes", 2))
    // definitions are nodes of the operation too, and begin at the first level
    const { schemas } = schemasOf({ a: { items: {} } }, { bounds: { nodes: 2, depth: 2 } })
    schemas.schema({ value: { $ref: "#/a" }, pointer: "#" })
    assert.deepStrictEqual(
      failureOf(() => schemas.definitions()),
      tooLarge("The schema", "nodes", 2)
    )
    const deep = schemasOf({ a: { items: {} } }, { bounds: { depth: 2 } }).schemas
    deep.schema({ value: { items: { $ref: "#/a" } }, pointer: "#" })
    assert.deepStrictEqual(deep.definitions(), { d1: { items: {} } })
  })

  it("are nodes of the whole document, with the values that are copied [P1796 P1391]", () => {
    assert.strictEqual(converted({ type: "string" }).nodes, 2)
    assert.strictEqual(converted({ enum: [1, { a: 2 }, []] }).nodes, 6)
    assert.strictEqual(converted({ items: { const: null }, example: { a: 1 } }).nodes, 3)
    const value = { type: "string" }
    const { schemas } = schemasOf({}, { limit: 4 })
    schemas.schema({ value, pointer: "#" })
    schemas.schema({ value, pointer: "#" })
    assert.deepStrictEqual(
      failureOf(() => schemas.schema({ value, pointer: "#" })),
      tooLarge("The document", "nodes", 4)
    )
  })
})
