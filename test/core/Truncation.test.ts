import { assert, it } from "@effect/vitest"
import { Render } from "@kintsugi/core"
import * as fc from "fast-check"

const { truncated } = Render
const lengthOf = (text: string) => Array.from(text).length

it("K26 cuts at the last blank line, line end, sentence, comma or space that keeps at least half", () => {
  for (const [text, max, expected] of [
    ["one two three\n\nfour five six seven", 24, "one two three..."],
    ["one two three\nfour five six seven", 24, "one two three..."],
    ["One two three. Four five six seven", 24, "One two three...."],
    ["one two three, four five six seven", 24, "one two three,..."],
    ["one two three four five six seven", 24, "one two three four..."],
    // the first paragraph is too short to be kept alone
    ["one\n\ntwo three four five six seven", 24, "one\n\ntwo three four..."],
    ["onetwothreefourfivesixseven", 20, "onetwothreefourfi..."],
    ["fits", 4, "fits"],
    ["fits", 10, "fits"]
  ] as const) {
    assert.strictEqual(truncated(text, max), expected, text)
  }
})

it("K25 K26 below four characters there is no room for anything but the text", () => {
  assert.deepStrictEqual(
    [0, 1, 2, 3].map((max) => truncated("abcdefgh", max)),
    ["", "a", "ab", "abc"]
  )
})

it("L910 K25 K26 K27 at most n characters for any n and any text, uncut where it fits, no half character, not only dots", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc
      .array(fc.constantFrom("word", " ", "\n", "\n\n", ". ", ", ", "🙂"), { maxLength: 40 })
      .map((words) => words.join(""))
  )
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 80 }), (text, max) => {
      const cut = truncated(text, max)
      assert.isAtMost(lengthOf(cut), max)
      if (lengthOf(text) <= max) return assert.strictEqual(cut, text)
      assert.isFalse(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(cut))
      if (max > 3) {
        assert.isTrue(cut.endsWith("..."))
        assert.isAbove(cut.length, 3)
        assert.isTrue(text.startsWith(cut.slice(0, -3)))
      } else assert.isTrue(text.startsWith(cut))
      return undefined
    }),
    { numRuns: 2000 }
  )
})
