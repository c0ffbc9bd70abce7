/** The provider metadata of parts of the AI SDK. */
import { assert, describe, it } from "@effect/vitest"
import { copyOf } from "../../../packages/interop/src/ai-sdk/copy.ts"
import * as Metadata from "../../../packages/interop/src/ai-sdk/metadata.ts"

describe("the metadata of a part", () => {
  it("is its opaque data, the signatures of thoughts apart, and goes back as it came [P1381]", () => {
    assert.deepStrictEqual(Metadata.opaqueOf("p", {}), {})
    const came = { a: { x: 1 }, b: { thoughtSignature: null, y: 2 }, c: { thoughtSignature: "s" } }
    const metadata = { a: { x: 1 }, b: { y: 2 }, c: {} }
    const data = { metadata, thoughtSignature: { b: null, c: "s" } }
    assert.deepStrictEqual(Metadata.opaqueOf("p", came), { opaque: { provider: "p", data } })
    assert.deepStrictEqual(Metadata.opaqueOf("p", { a: {} }), {
      opaque: { provider: "p", data: { metadata: { a: {} } } }
    })
    assert.deepStrictEqual(Metadata.optionsOf(data), { providerOptions: came })
    // a reader without the thoughts
    assert.deepStrictEqual(Metadata.optionsOf({ metadata }), { providerOptions: metadata })
    assert.deepStrictEqual(Metadata.optionsOf({ thoughtSignature: { d: "u" } }), {
      providerOptions: { d: { thoughtSignature: "u" } }
    })
    for (const none of [undefined, null, "x", {}, { metadata: {} }, { metadata: 1, thoughtSignature: [] }])
      assert.deepStrictEqual(Metadata.optionsOf(none), {})
  })

  it("has one object for each provider, in own fields [P1381]", () => {
    assert.deepStrictEqual(Metadata.byProvider({ a: { x: 1 }, b: null, c: [1], d: "x", e: {} }), { a: { x: 1 }, e: {} })
    for (const none of [undefined, null, [], "x", 1]) assert.deepStrictEqual(Metadata.byProvider(none), {})
    assert.deepStrictEqual(
      ["a", "b", "toString"].map((key) => Metadata.fieldOf({ a: null }, key)),
      [null, undefined, undefined]
    )
  })
})

describe("a copy", () => {
  it("has the same fields in new objects and lists, those without a prototype too [P1396]", () => {
    const bare = Object.assign(Object.create(null), { a: 1 })
    const input = { list: [1, { b: null }], bare, text: "x" }
    const copy = copyOf(input)
    assert.deepStrictEqual(copy, input)
    const { bare: copied, list } = copy as typeof input
    assert.notStrictEqual(copy, input)
    assert.notStrictEqual(list, input.list)
    assert.notStrictEqual(list[1], input.list[1])
    assert.isTrue(Array.isArray(list))
    assert.notStrictEqual(copied, bare)
    assert.isNull(Object.getPrototypeOf(copied))
    const fields = Object.getOwnPropertyDescriptor(copyOf(Object.freeze({ a: 1 })), "a")
    assert.deepStrictEqual(fields, { value: 1, configurable: true, enumerable: true, writable: true })
  })

  it("of any other value is the value itself [P1396]", () => {
    class Own {
      readonly name = "own"
    }
    class List extends Array<number> {}
    for (const value of [1, "x", null, undefined, true, Symbol.iterator, Math.max, new Date(0), new Own(), new List()])
      assert.strictEqual(copyOf(value), value)
  })
})
