import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Split from "../../../packages/providers/src/testing/split.ts"

const encode = (text: string) => new TextEncoder().encode(text)

const sizes = (text: string, split: Split.Split) => Split.pieces(encode(text), split).map((piece) => piece.length)

const texts = (text: string, split: Split.Split) =>
  Split.pieces(encode(text), split).map((piece) => new TextDecoder().decode(piece))

it("cuts at the given positions", () => {
  assert.deepStrictEqual(texts("abc", "whole"), ["abc"])
  assert.deepStrictEqual(texts("abc", "byte"), ["a", "b", "c"])
  assert.deepStrictEqual(texts("abcde", { every: 2 }), ["ab", "cd", "e"])
  assert.deepStrictEqual(texts("a\n\nb\nc\n\n", "event"), ["a\n\n", "b\nc\n\n"])
  assert.deepStrictEqual(texts("a\r\n\r\nb\r\nc", "event"), ["a\r\n\r\n", "b\r\nc"])
  assert.deepStrictEqual(texts("a\r\nb\r\n", "inside-crlf"), ["a\r", "\nb\r", "\n"])
  assert.deepStrictEqual(texts("a\rb\nc\r\n", "inside-crlf"), ["a\rb\nc\r", "\n"])
  assert.deepStrictEqual(texts("a\nb\n\nc", "line"), ["a\n", "b\n", "\n", "c"])
  assert.deepStrictEqual(sizes("aé🙂b", "inside-characters"), [2, 2, 1, 1, 2])
  assert.deepStrictEqual(sizes("", "byte"), [])
})

it("loses nothing, repeats nothing, and leaves nothing empty", () => {
  const split = fc.oneof(
    fc.constantFrom<Split.Split>("whole", "event", "byte", "inside-characters", "inside-crlf"),
    fc.record({ every: fc.integer({ min: -1, max: 9 }) })
  )
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a\r\n]*$/))
  fc.assert(
    fc.property(text, split, (text, split) => {
      const bytes = encode(text)
      const pieces = Split.pieces(bytes, split)
      assert.isTrue(pieces.every((piece) => piece.length > 0))
      assert.deepStrictEqual(
        pieces.flatMap((piece) => [...piece]),
        [...bytes]
      )
    })
  )
})
