import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { vi } from "vitest"
import { canonical, digestOf } from "../../../packages/core/src/data/Digest.ts"

const values = [null, "", "é😀", "half of a pair: \ud83d", -0, 1e21, [], { b: [1, { d: 1, c: 2 }], a: null }]

it.effect("a digest is the same wherever it is made: at once, or on another thread of a browser [P903]", () =>
  Effect.gen(function* () {
    const atOnce = values.map((value) => Effect.runSync(digestOf(value)))
    assert.strictEqual(new Set(atOnce).size, values.length)
    const elsewhere = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
    yield* Effect.addFinalizer(() => Effect.sync(() => elsewhere.mockRestore()))
    assert.throws(() => Effect.runSync(digestOf(null)))
    assert.deepStrictEqual(yield* Effect.forEach(values, digestOf), atOnce)
  })
)

it("a digest is that of the canonical JSON [P903]", () => {
  // printf '{"a":[1],"b":null}' | sha256sum
  const expected = "ed5c7dc2684fea0cb32578f8fe59a4aba8851b5dd7c38abcda3c1e2d9f4abaaa"
  assert.strictEqual(Effect.runSync(digestOf({ b: null, a: [1] })), expected)
})

it("canonical JSON has the fields of each object in the order of their names, and is JSON of the same value [P903]", () => {
  const value = { b: [1, { d: [], c: {}, "": null }], a: "é\n", 10: true, 9: [[2], -0, 1e21] }
  assert.strictEqual(canonical(value), '{"10":true,"9":[[2],0,1e+21],"a":"é\\n","b":[1,{"":null,"c":{},"d":[]}]}')
  assert.deepStrictEqual(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value)))
})

it("canonical JSON of any depth is made without a stack [P1393]", () => {
  const levels = 200_000
  let value: Schema.Json = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { b: value, a: null }
  const text = canonical(value)
  assert.strictEqual(text, `${'{"a":null,"b":['.repeat(levels / 2)}1${"]}".repeat(levels / 2)}`)
})
