import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { vi } from "vitest"
import { canonical, Digest, digestOf, digestOfRequest } from "../../../packages/core/src/data/Digest.ts"

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

it("the digest of a request has what a person is shown, and no field that it lacks [P903]", () => {
  const request = { runId: "r", key: "r/1/0", callId: "c", tool: "t", arguments: { n: 1 }, schema: "s", expiresAt: 9 }
  const written = { type: "tool-call", id: "c" }
  const digested = (one: Parameters<typeof digestOfRequest>[0]): unknown =>
    JSON.parse(
      Effect.runSync(
        Effect.provideService(digestOfRequest(one, written), Digest, (value) => Effect.succeed(JSON.stringify(value)))
      )
    )
  assert.deepStrictEqual(digested(request), { ...request, written })
  const change = { server: "s", after: { a: 1 } }
  const failed = {
    tag: "Busy",
    forModel: "busy",
    full: "Busy",
    attempts: 1,
    runs: 1,
    sideEffects: "none",
    mayHaveTakenEffect: false
  } as const
  assert.deepStrictEqual(digested({ ...request, change }), { ...request, change, written })
  assert.deepStrictEqual(digested({ ...request, failed }), { ...request, failed, written })
})
