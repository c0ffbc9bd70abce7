import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { digestOf } from "../../../packages/core/src/data/Digest.ts"

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
  const known = "ed5c7dc2684fea0cb32578f8fe59a4aba8851b5dd7c38abcda3c1e2d9f4abaaa"
  assert.strictEqual(Effect.runSync(digestOf({ b: null, a: [1] })), known)
})
