import { assert, it } from "@effect/vitest"
import { isLonger, resolve } from "../../../packages/core/src/data/Bounds.ts"

it("a bound is an integer from 1 to its maximum, and a missing one has its default", () => {
  assert.deepStrictEqual(resolve(), { depth: 128, nodes: 20_000, bytes: 262_144 })
  assert.deepStrictEqual(resolve({ depth: 512, nodes: 1, bytes: Number.MAX_SAFE_INTEGER }), {
    depth: 512,
    nodes: 1,
    bytes: Number.MAX_SAFE_INTEGER
  })
  assert.deepStrictEqual(resolve({ depth: 1 }), { depth: 1, nodes: 20_000, bytes: 262_144 })
  for (const [bounds, message] of [
    [{ depth: 513 }, "Bounds: depth must be an integer from 1 to 512, got 513"],
    [{ depth: 0 }, "Bounds: depth must be an integer from 1 to 512, got 0"],
    [{ nodes: 1.5 }, "Bounds: nodes must be an integer from 1 to 9007199254740991, got 1.5"],
    [{ bytes: Infinity }, "Bounds: bytes must be an integer from 1 to 9007199254740991, got Infinity"]
  ] as const)
    assert.throws(() => resolve(bounds), RangeError, message)
})

it("JSON is longer than its bytes less one, and no longer than its bytes", () => {
  const values = [
    null,
    true,
    12.5,
    "abcd",
    "é😀\n",
    [null, false],
    [1, "two", [3]],
    { a: 1, bé: { c: null } },
    { list: [{ a: "x" }, { b: "y" }], n: -1 },
    [["", [""]], { "": [0] }]
  ]
  for (const value of values) {
    const text = JSON.stringify(value)
    const { length } = new TextEncoder().encode(text)
    for (let bytes = 0; bytes < length; bytes++) assert.isTrue(isLonger(value, bytes), `${text} in ${bytes}`)
    for (const bytes of [length, length + 1, 2 * length]) assert.isFalse(isLonger(value, bytes), `${text} in ${bytes}`)
  }
})
