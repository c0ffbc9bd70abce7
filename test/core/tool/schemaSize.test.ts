/** How large a JSON Schema becomes with its references, counted exactly. */
import { assert, it } from "@effect/vitest"
import { resolve } from "../../../packages/core/src/data/Bounds.ts"
import { exceededBy, type SchemaNode, targetOf } from "../../../packages/core/src/tool/schemaSize.ts"

/** The least number of nodes with which a schema is within the bounds. */
const nodesOf = (schema: SchemaNode): number => {
  let nodes = 1
  while (exceededBy(schema, resolve({ nodes }))?.bound === "nodes" && nodes < 100) nodes++
  return nodes
}

/** The least depth with which a schema is within the bounds. */
const depthOf = (schema: SchemaNode): number => {
  let depth = 1
  while (exceededBy(schema, resolve({ depth }))?.bound === "depth") depth++
  return depth
}

const number = { type: "number" }
const toD = { $ref: "#/$defs/d" }
const withA = (a: unknown, $defs: SchemaNode = {}): SchemaNode => ({ type: "object", properties: { a }, $defs })

it("each schema is a node, and so is each value of an enumeration [P1391]", () => {
  const sizes: ReadonlyArray<readonly [SchemaNode, nodes: number]> = [
    [{ type: "object" }, 1],
    [{ type: "string", enum: ["a", "b", "c"] }, 4],
    [withA(number), 2],
    // a reference counts besides its target
    [withA(toD, { d: number }), 3],
    [withA({ description: "of one", allOf: [toD] }, { d: number }), 3],
    [withA({ description: "of two", allOf: [toD, toD] }, { d: number }), 6],
    [withA({ ...number, $ref: "#/$defs/d" }, { d: number }), 3],
    [withA({ ...number, $ref: "#/nowhere" }), 2],
    [withA({ $ref: "#/nowhere" }), 2],
    // a reference to what is around it is not followed
    [withA({ $ref: "#" }), 2],
    [withA({ type: "object", $ref: "#" }), 2],
    [withA({ type: "object", ...toD }, { d: withA({ type: "object", ...toD }) }), 5],
    [withA(toD, { d: withA(toD) }), 4],
    [{ ...withA(toD, { d: withA(number) }), additionalProperties: toD }, 7],
    // alternatives are counted one by one
    [{ anyOf: [number, number] }, 3],
    [{ anyOf: [number], oneOf: [number, number] }, 4]
  ]
  for (const [schema, nodes] of sizes) assert.strictEqual(nodesOf(schema), nodes, JSON.stringify(schema))
})

it("what is no schema has no size [P1391]", () => {
  const schema = { type: "object", properties: { a: true, b: null }, items: 5, allOf: "x" }
  assert.isUndefined(exceededBy(schema, resolve({ nodes: 3 })))
})

it("schemas are children under each of these keywords [P1391]", () => {
  const children: ReadonlyArray<readonly [keyword: string, value: unknown]> = [
    ["properties", { a: number }],
    ["patternProperties", { a: number }],
    ["additionalProperties", number],
    ["propertyNames", number],
    ["additionalItems", number],
    ["items", number],
    ["items", [number]],
    ["prefixItems", [number]]
  ]
  for (const [keyword, value] of children) assert.strictEqual(nodesOf({ [keyword]: value }), 2, keyword)
  assert.strictEqual(nodesOf({ default: number, $defs: { d: number } }), 1)
})

it("what constrains a value is counted with each alternative beside it, and other keywords are not [P1391]", () => {
  const constraints = [
    "type const enum properties required additionalProperties patternProperties propertyNames items prefixItems",
    "additionalItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
    "uniqueItems minProperties maxProperties not"
  ].flatMap((keywords) => keywords.split(" "))
  const beside = (keyword: string) => nodesOf({ [keyword]: 1, anyOf: [{}, {}] })
  // with the alternative each is combined in a pair
  for (const keyword of constraints) assert.strictEqual(beside(keyword), 9, keyword)
  for (const keyword of ["title", "description", "default", "examples", "format", "$comment", "$id"])
    assert.strictEqual(beside(keyword), 3, keyword)
})

it("schemas of one value are compared with one another at each of its children [P1391]", () => {
  // three parts: each child counts two times more, and by the schemas that it has
  assert.strictEqual(nodesOf({ allOf: [{ properties: { a: number } }, { properties: { b: number } }] }), 9)
  assert.strictEqual(nodesOf({ allOf: [{ properties: { a: number } }, { properties: { a: number } }] }), 9)
  // further properties apply to those that only others name
  for (const properties of [{}, { a: number }])
    assert.strictEqual(
      nodesOf({ allOf: [{ properties: { a: number } }, { properties, additionalProperties: number }] }),
      12
    )
})

it("levels are counted through references, also to what is counted already [P1391 P1393]", () => {
  /** Definitions of which each is one level with its references. */
  const chain = (length: number, link: (next: SchemaNode) => SchemaNode): SchemaNode => ({
    ...withA({ $ref: "#/$defs/d0" }),
    $defs: Object.fromEntries([
      ...Array.from({ length }, (_, index) => [`d${index}`, link({ $ref: `#/$defs/d${index + 1}` })] as const),
      [`d${length}`, number] as const
    ])
  })
  // the root, and for each definition its reference and itself
  assert.strictEqual(depthOf(chain(3, (next) => ({ type: "array", items: next }))), 9)
  assert.strictEqual(depthOf(chain(3, (next) => ({ type: "object", properties: { a: next, b: next } }))), 9)
  assert.strictEqual(depthOf(chain(10, (next) => ({ type: "array", items: next }))), 23)
  // a definition that is used at the top first, and then in the depth
  const twice = {
    type: "object",
    properties: { a: toD, b: { type: "object", properties: { c: { type: "array", items: toD } } } },
    $defs: { d: { type: "array", items: { type: "array", items: { type: "array", items: number } } } }
  }
  assert.strictEqual(depthOf(twice), 8)
})

it("the bound is named that is exceeded first [P1391]", () => {
  const schema = {
    type: "object",
    properties: {
      ...Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`p${index}`, toD])),
      z: { $ref: "#/$defs/e0" }
    },
    $defs: {
      d: number,
      e0: { type: "array", items: { $ref: "#/$defs/e1" } },
      e1: { type: "array", items: { $ref: "#/$defs/e2" } },
      e2: number
    }
  }
  const exceeded = (nodes: number) => exceededBy(schema, resolve({ nodes, depth: 5 }))
  assert.deepStrictEqual(
    [exceeded(10), exceeded(100)],
    [
      { bound: "nodes", limit: 10 },
      { bound: "depth", limit: 5 }
    ]
  )
})

it("a reference is a JSON pointer into the same schema [P1391]", () => {
  const root: SchemaNode = {
    $defs: { d: number, "a/b": { title: "slash" }, "a~b": { title: "tilde" }, "a b": { title: "blank" }, "%": {} },
    list: [{ title: "first" }, 5],
    text: "x"
  }
  const found: ReadonlyArray<readonly [ref: string, target: unknown]> = [
    ["#", root],
    ["#/$defs", root["$defs"]],
    ["#/$defs/d", number],
    ["#/$defs/a~1b", { title: "slash" }],
    ["#/$defs/a~0b", { title: "tilde" }],
    ["#/$defs/a%20b", { title: "blank" }],
    ["#/$defs/%", {}],
    ["#/list/0", { title: "first" }],
    ["#/list/1", undefined],
    ["#/list", undefined],
    ["#/text", undefined],
    ["#/text/length", undefined],
    ["#/nowhere", undefined],
    ["#/nowhere/further", undefined],
    ["#/toString", undefined],
    ["#/__proto__", undefined],
    ["other/$defs/d", undefined],
    ["", undefined]
  ]
  for (const [ref, target] of found) assert.deepStrictEqual(targetOf(root, ref), target, ref)
})
