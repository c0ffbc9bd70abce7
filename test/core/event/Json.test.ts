/** What becomes of a value that is written as JSON. */
import { assert, it } from "@effect/vitest"
import { jsonOf } from "../../../packages/core/src/event/Json.ts"
import { elided, maxDepth } from "../../../packages/core/src/event/depth.ts"

const key = `sk-proj-${"a1".repeat(24)}`

class Session {
  readonly token = key
  readonly none = undefined
  readonly at: ReadonlyArray<unknown> = [undefined, null, true, 1.5]
}

it("JSON stays as it is, and texts of other values lose their keys [A1203]", () => {
  const json = { a: [1, -0.5, "x", key, true, null, {}], b: "" }
  assert.deepStrictEqual(jsonOf(json), json)
  const written = jsonOf({ session: new Session(), map: new Map([["a", key]]), own: key, none: undefined })
  assert.deepInclude(written, { own: key })
  assert.strictEqual(JSON.stringify(written).split(key).length, 2)
  assert.deepStrictEqual(Object.keys(Object(written)), ["session", "map", "own"])
  assert.deepInclude(Object(written).session, { at: [null, null, true, 1.5] })
})

it("a value that is no JSON becomes its fields, its items, its own JSON or its text [A1203]", () => {
  const cases: ReadonlyArray<readonly [value: unknown, json: unknown]> = [
    [undefined, undefined],
    [5n, "5"],
    [Number.NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [Symbol("s"), "Symbol(s)"],
    [() => 1, "[function]"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [new Set([1, "a"]), [1, "a"]],
    [new Map([[1, { a: 2 }]]), [[1, { a: 2 }]]],
    [Uint8Array.of(1), "[object Uint8Array]"],
    [Object.create({ a: 1 }), "[object Object]"],
    [Object.create(null), {}],
    [
      { toJSON: 1, a: 2 },
      { toJSON: 1, a: 2 }
    ]
  ]
  for (const [value, json] of cases) assert.deepStrictEqual(jsonOf(value), json)
})

it("a value that is there twice is written twice; within itself it is elided [A1203]", () => {
  const one = { n: 1 }
  assert.deepStrictEqual(jsonOf({ a: one, b: [one, one] }), { a: one, b: [one, one] })
  const circle: { self?: unknown; one: unknown } = { one }
  circle.self = [circle]
  assert.deepStrictEqual(jsonOf(circle), { one, self: [elided] })
})

it("values are written down to a depth [A1203]", () => {
  const nest = (levels: number, inmost: unknown = []) => {
    let value = inmost
    for (let level = 1; level < levels; level++) value = [value]
    return value
  }
  assert.strictEqual(JSON.stringify(jsonOf(nest(maxDepth))), JSON.stringify(nest(maxDepth)))
  assert.strictEqual(JSON.stringify(jsonOf(nest(maxDepth + 1))), JSON.stringify(nest(maxDepth + 1, elided)))
})
