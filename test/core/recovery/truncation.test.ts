import { assert, it } from "@effect/vitest"
import * as Render from "@kintsugi/core/Render"

const { truncated } = Render

it("cuts at the last blank line, line end, sentence, comma or space that keeps at least half [K26]", () => {
  for (const [text, max, expected] of [
    ["one two three\n\nfour five six seven", 24, "one two three..."],
    ["one two three\nfour five six seven", 24, "one two three..."],
    ["One two three. Four five six seven", 24, "One two three...."],
    ["one two three, four five six seven", 24, "one two three,..."],
    ["one two three four five six seven", 24, "one two three four..."],
    // the first paragraph is too short to be kept alone
    ["one\n\ntwo three four five six seven", 24, "one\n\ntwo three four..."],
    ["onetwothreefourfivesixseven", 20, "onetwothreefourfi..."],
    // a blank line goes before a later line end, sentence or space, and before a space at the limit
    ["one two three\n\nfour f five six", 24, "one two three..."],
    ["one two\n\nthree\nfour. five six seven", 24, "one two\n\nthree..."],
    ["one two three\n\nfour\nfive six seven", 24, "one two three..."],
    // a seam at the beginning leaves nothing, and a blank behind the limit takes no room
    ["\n\nonetwothreefourfivesixseven", 20, "\n\nonetwothreefour..."],
    [" onetwothreefourfivesixseven", 8, " onet..."],
    ["one two three four", 10, "one two..."],
    // half of the limit is enough
    ["one two threefourfive", 14, "one two..."],
    ["one two threefourfive", 15, "one two thre..."],
    ["one twos, three", 11, "one twos..."],
    ["fits", 4, "fits"],
    ["fits", 10, "fits"]
  ] as const) {
    assert.strictEqual(truncated(text, max), expected, text)
  }
})

it("below four characters there is room for the text alone [K25 K26]", () => {
  assert.deepStrictEqual(
    [0, 1, 2, 3].map((max) => truncated("abcdefgh", max)),
    ["", "a", "ab", "abc"]
  )
})
