/** The provider metadata of parts of the AI SDK. */
import { assert, describe, it } from "@effect/vitest"
import { copyOf } from "../../../packages/interop/src/ai-sdk/copy.ts"
import * as Metadata from "../../../packages/interop/src/ai-sdk/metadata.ts"

describe("the metadata of a part", () => {
  it("is its opaque data, the signatures of thoughts apart [P1381]", () => {
    assert.deepStrictEqual(Metadata.opaqueOf("p", {}), {})
    assert.deepStrictEqual(Metadata.opaqueOf("p", { a: {} }), {
      opaque: { provider: "p", data: { metadata: { a: {} } } }
    })
    assert.deepStrictEqual(
      Metadata.dataOf({ a: { x: 1 }, b: { thoughtSignature: null, y: 2 }, c: { thoughtSignature: "s" } }),
      {
        metadata: { a: { x: 1 }, b: { y: 2 }, c: {} },
        thoughtSignature: { b: null, c: "s" }
      }
    )
  })

  it("goes back as it came, also if its signatures are gone [P1381]", () => {
    const came = { a: { x: 1 }, b: { thoughtSignature: "t", y: 2 }, c: { thoughtSignature: "s" } }
    const data = Metadata.dataOf(came)
    assert.deepStrictEqual(Metadata.optionsOf(data), { providerOptions: came })
    assert.deepStrictEqual(Metadata.optionsOf({ metadata: data["metadata"] ?? null }), {
      providerOptions: { a: { x: 1 }, b: { y: 2 }, c: {} }
    })
    assert.deepStrictEqual(Metadata.optionsOf({ thoughtSignature: { d: "u" } }), {
      providerOptions: { d: { thoughtSignature: "u" } }
    })
    for (const none of [undefined, null, "x", {}, { metadata: {} }, { metadata: 1, thoughtSignature: [] }])
      assert.deepStrictEqual(Metadata.optionsOf(none), {})
  })

  it("has one object for each provider [P1381]", () => {
    assert.deepStrictEqual(Metadata.byProvider({ a: { x: 1 }, b: null, c: [1], d: "x", e: {} }), { a: { x: 1 }, e: {} })
    for (const none of [undefined, null, [], "x", 1]) assert.deepStrictEqual(Metadata.byProvider(none), {})
  })

  it("is merged by provider and field, the later one first [P1381]", () => {
    const before = { a: { x: 1, y: 1 }, b: { z: 1 } }
    assert.deepStrictEqual(Metadata.merged(before, { a: { y: 2 }, c: {} }), { a: { x: 1, y: 2 }, b: { z: 1 }, c: {} })
    assert.deepStrictEqual(before, { a: { x: 1, y: 1 }, b: { z: 1 } })
  })
})

it("JSON is read as an object, a field of its own, a text with characters, or a number", () => {
  assert.deepStrictEqual(
    [{}, { a: 1 }, [], null, undefined, "x", 1].map((json) => Metadata.objectOf(json)),
    [{}, { a: 1 }, undefined, undefined, undefined, undefined, undefined]
  )
  assert.deepStrictEqual(
    ["a", "b", "toString", "length"].map((key) => Metadata.fieldOf({ a: null }, key)),
    [null, undefined, undefined, undefined]
  )
  assert.isUndefined(Metadata.fieldOf([1], "length"))
  assert.deepStrictEqual(
    ["x", "", 1, null, undefined, {}].map((json) => Metadata.textOf(json)),
    ["x", undefined, undefined, undefined, undefined, undefined]
  )
  assert.deepStrictEqual(
    [0, -1.5, "1", null, undefined].map((json) => Metadata.countOf(json)),
    [0, -1.5, undefined, undefined, undefined]
  )
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
