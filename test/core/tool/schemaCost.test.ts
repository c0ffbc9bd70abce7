/** What it costs to check a value by a JSON Schema, counted exactly before the value is checked. */
import { assert, describe, it } from "@effect/vitest"
import { costlyField } from "../../../packages/core/src/tool/schemaCost.ts"
import type { SchemaNode } from "../../../packages/core/src/tool/schemaSize.ts"

const most = 8_000_000

const times = <A>(count: number, item: A): ReadonlyArray<A> => Array.from({ length: count }, () => item)

const named = (count: number) => Object.fromEntries(times(count, {}).map((schema, index) => [`p${index}`, schema]))

/** Costs 5,008 for each object: 8 for the check, and 1 for each property. */
const wide = { type: "object", properties: named(5000) }

/** The field that costs too much in a list of equal items. The root and its list cost 17. */
const costlyList = (items: SchemaNode, item: unknown, count: number, $defs: SchemaNode = {}) =>
  costlyField({ type: "object", properties: { a: { type: "array", items } }, $defs }, { a: times(count, item) })

const $defs = { wide, other: { type: "string" } }

const costs: ReadonlyArray<readonly [what: string, items: SchemaNode, item: unknown, each: number]> = [
  ["a check and its properties", wide, {}, 5008],
  ["what applies together", { allOf: [wide, {}] }, {}, 5024],
  ["one of a choice", { anyOf: [wide] }, {}, 5009.125],
  ["all of a choice", { oneOf: [wide, {}] }, {}, 5017.25],
  ["two choices", { anyOf: [wide], oneOf: [wide] }, {}, 10_017.25],
  ["a reference", { $ref: "#/$defs/wide" }, {}, 5009],
  ["references that are none", { allOf: [wide, { $ref: 5 }, { $ref: "#/nowhere" }] }, {}, 5025],
  ["a property", { properties: { b: wide } }, { b: {}, c: {} }, 5017],
  ["further properties", { properties: { b: {} }, additionalProperties: wide }, { b: {}, toString: {} }, 5025],
  ["names of properties", { ...wide, propertyNames: { allOf: [{}, {}] } }, { b: 1 }, 5032],
  ["required properties", { ...wide, required: ["b", "c", "d"] }, { b: 1 }, 5025],
  ["a tuple and more", { prefixItems: [{}, wide], items: wide }, [0, {}, {}], 10_032],
  ["a tuple and more, of draft-07", { items: [{}, wide], additionalItems: wide }, [0, {}, {}], 10_032],
  ["a tuple", { prefixItems: [wide] }, [{}, {}], 5016],
  ["a tuple of draft-07", { items: [wide] }, [{}, {}], 5016]
]

for (const [what, items, item, each] of costs)
  it(`the cost of ${what} is exact [P1391]`, () => {
    const count = Math.floor((most - 17) / each)
    assert.deepStrictEqual(
      [count, count + 1].map((many) => costlyList(items, item, many, $defs)),
      [undefined, "a"]
    )
  })

it("a value may cost as much as the bound, and no more [P1391]", () => {
  const schema = (checks: number) => ({ allOf: [{ items: wide }, ...times(checks, {})] })
  const value = times(1597, {})
  // 8 for the root, 8 for the list, 5,008 for each item and 8 for each check besides
  assert.strictEqual(16 + 1597 * 5008 + 8 * 276, most)
  assert.deepStrictEqual(
    [276, 277].map((checks) => costlyField(schema(checks), value)),
    [undefined, ""]
  )
})

it("the field is the one of the whole value, and empty without one [P1391]", () => {
  const list = { type: "array", items: { properties: { deep: wide } } }
  const value = times(1600, { deep: {} })
  assert.strictEqual(costlyField(list, value), "")
  assert.strictEqual(costlyField({ properties: { a: { properties: { b: list } } } }, { a: { b: value } }), "a")
  assert.strictEqual(costlyField({ additionalProperties: list }, { b: value }), "b")
  // the names are checked behind the list, and the last one first
  const names = { allOf: times(150, {}) }
  const items = { a: { type: "array", items: wide } }
  const lists = { b: 1, a: times(1597, {}) }
  assert.strictEqual(costlyField({ properties: items, propertyNames: names }, lists), "b")
  assert.strictEqual(costlyField({ properties: { c: { properties: items, propertyNames: names } } }, { c: lists }), "c")
  assert.isUndefined(costlyField({ properties: items, propertyNames: {} }, lists))
})

/** Whether an alternative counts where 2,206 are left: then it costs some more than that. */
const counts = (alternative: SchemaNode, value: unknown, $defs: SchemaNode = {}): boolean => {
  const properties = { a: { type: "array", items: wide }, b: { anyOf: [alternative] } }
  return costlyField({ type: "object", properties, $defs }, { a: times(1597, {}), b: value }) !== undefined
}

/** The same schema with 300 checks more. */
const heavy = (schema: SchemaNode): SchemaNode => ({ ...schema, allOf: times(300, {}) })

describe("an alternative that cannot fit a value costs next to nothing, and another one counts", () => {
  const values: ReadonlyArray<unknown> = ["x", 1, true, null, [], {}]
  const rest = (...fitting: ReadonlyArray<unknown>) => values.filter((value) => !fitting.includes(value))
  const [text, number, boolean, nothing, list, object] = values
  const v = { const: "v" }
  const alternatives: ReadonlyArray<
    readonly [SchemaNode, fits: ReadonlyArray<unknown>, others: ReadonlyArray<unknown>]
  > = [
    [{ type: "string" }, [text], rest(text)],
    [{ type: "number" }, [number], rest(number)],
    [{ type: "integer" }, [number], rest(number)],
    [{ type: "boolean" }, [boolean], rest(boolean)],
    [{ type: "null" }, [nothing], rest(nothing)],
    [{ type: "array" }, [list], rest(list)],
    [{ type: "object" }, [object], rest(object)],
    [{ type: ["string", "null"] }, [number], []],
    [{ const: "x" }, ["x"], ["y", 1, {}]],
    [{ const: 1 }, [1], ["1", 2]],
    [{ enum: ["x"] }, ["x"], ["y"]],
    [{ enum: ["x", "y"] }, ["z"], []],
    [{ const: true }, [false], []],
    [{ required: ["k"], properties: { k: v } }, [{ k: "v" }, "k"], [{ k: "w" }, {}]],
    [{ required: ["m", "k"], properties: { k: v } }, [{ k: "v" }], [{ k: "w" }]],
    // only the first of them tells
    [{ required: ["k", "l"], properties: { k: v, l: v } }, [{ k: "v", l: "w" }], [{ k: "w", l: "v" }]],
    [{ properties: { k: v } }, [{ k: "w" }], []],
    [{ required: ["k"], properties: { k: { enum: ["v", "w"] } } }, [{ k: "x" }], []]
  ]
  for (const [alternative, fits, others] of alternatives)
    it(`${JSON.stringify(alternative)} [P1391]`, () => {
      for (const value of fits) assert.isTrue(counts(heavy(alternative), value), JSON.stringify(value))
      for (const value of others) assert.isFalse(counts(heavy(alternative), value), JSON.stringify(value))
    })

  // the alternative itself is a reference, and so is each link, with `allOf` in a list of one
  const ways: ReadonlyArray<readonly [what: string, links: number, link: (next: SchemaNode) => SchemaNode]> = [
    ["references", 7, (next) => next],
    ["references in lists of one", 3, (next) => ({ allOf: [next] })]
  ]
  for (const [what, most, link] of ways)
    it(`behind as many as eight ${what} [P1391]`, () => {
      const chain = (links: number) => ({
        ...Object.fromEntries(times(links, {}).map((_, at) => [`d${at}`, link({ $ref: `#/$defs/d${at + 1}` })])),
        [`d${links}`]: heavy({ type: "string" })
      })
      const counted = (links: number, value: unknown) => counts({ $ref: "#/$defs/d0" }, value, chain(links))
      assert.deepStrictEqual([counted(most, 1), counted(most, "x"), counted(most + 1, 1)], [false, true, true])
    })

  it("that refers to itself [P1391]", () => {
    const own = { d: { $ref: "#/$defs/d", type: "string" } }
    assert.isFalse(counts({ $ref: "#/$defs/d" }, 1, own))
  })
})
