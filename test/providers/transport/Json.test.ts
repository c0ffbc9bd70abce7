/** JSON of a server, which may have any depth and any type. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Json from "../../../packages/providers/src/transport/Json.ts"

const parsed = (text: string) => JSON.stringify(Result.getOrThrow(Json.parse(text)))

const lists = (levels: number, inside = "") => "[".repeat(levels) + inside + "]".repeat(levels)

const cutOff = '"nested too deeply"'

describe("a text of JSON", () => {
  it("is read as it is up to 1,100 levels, and what is deeper is replaced", () => {
    for (const text of [lists(1100, "1"), lists(1101), '{"a":1,"b":[{}]}', "null"])
      assert.strictEqual(parsed(text), text)
    assert.strictEqual(parsed(lists(1101, "1")), lists(1100, cutOff))
    assert.strictEqual(parsed(lists(3000, "1")), lists(1100, cutOff))
    const objects = (levels: number, inside: string) => '{"a":'.repeat(levels) + inside + "}".repeat(levels)
    assert.strictEqual(parsed(objects(1101, "1")), objects(1100, cutOff))
  })

  it("keeps what is beside a value that is too deep", () => {
    const text = (deep: string) => `{"a":[],"b":{},"c":[1,"x",null,{"d":false}],"deep":${deep},"e":2}`
    assert.strictEqual(parsed(text(lists(1101, "1"))), text(lists(1099, cutOff)))
  })

  it("may begin with a byte order mark, and else is refused if it is none", () => {
    assert.strictEqual(parsed("\uFEFF[1]"), "[1]")
    for (const text of ["", "no", "{"]) assert.isTrue(Result.isFailure(Json.parse(text)), text)
  })
})

it("a value of another type is absent", () => {
  const object = { a: "x", n: 1.5, e: "", list: [1], none: null }
  assert.deepStrictEqual(
    [Json.field(object, "a"), Json.field(object, "toString"), Json.field(null, "a")],
    ["x", undefined, undefined]
  )
  assert.deepStrictEqual(["x", "", 1, null, undefined].map(Json.text), [
    "x",
    undefined,
    undefined,
    undefined,
    undefined
  ])
  assert.deepStrictEqual([0, 2, 1.5, -1, "1", null].map(Json.count), [0, 2, 1.5, undefined, undefined, undefined])
  assert.deepStrictEqual([Json.items([1]), Json.items({}), Json.items(undefined)], [[1], [], []])
  assert.deepStrictEqual([Json.fields(object), Json.fields([1]), Json.fields(undefined)], [object, {}, {}])
  assert.deepStrictEqual([Json.object(object), Json.object([1]), Json.object("x")], [object, undefined, undefined])
})
