/** Texts of a run as plain text, as markup, and within a script. */
import { describe, expect, it } from "vitest"
import { markup, scriptJson, visible } from "../../../packages/view/src/text/Escape.ts"

const shown = (...codes: ReadonlyArray<number>) => codes.map((code) => visible(String.fromCharCode(code)))

describe("a text that is safe to show [P1214]", () => {
  it("has a line feed for every kind of line end, and keeps tabs [P1214]", () => {
    expect(visible("a\r\nb\rc\u2028d\u2029e\n\tf")).toBe("a\nb\nc\nd\ne\n\tf")
  })

  it("has a sign for each control character [P1214]", () => {
    expect(shown(0, 0x08, 0x0b, 0x1b, 0x1f, 0x7f)).toEqual(["\u2400", "\u2408", "\u240b", "\u241b", "\u241f", "\u2421"])
    expect(shown(0x80, 0x9f)).toEqual(["[U+0080]", "[U+009F]"])
  })

  it("names what changes the direction of a text, and what is no character [P1214]", () => {
    expect(shown(0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069, 0xfffe, 0xffff)).toEqual([
      "[U+061C]",
      "[U+200E]",
      "[U+200F]",
      "[U+202A]",
      "[U+202E]",
      "[U+2066]",
      "[U+2069]",
      "[U+FFFE]",
      "[U+FFFF]"
    ])
  })

  it("has a replacement for half a pair, and leaves all other characters [P1214]", () => {
    expect(shown(0xd800, 0xdfff)).toEqual(["\ufffd", "\ufffd"])
    const plain = " ~\u00a0é\u200d\u2065\u206a\ufffd😀"
    expect(visible(plain)).toBe(plain)
  })
})

describe("a text within other code [P1214]", () => {
  it("is escaped for elements and attributes [P1214]", () => {
    expect(markup(`<a href="x">'&'</a>\u0000`)).toBe("&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;\u2400")
  })

  it("cannot end a script, and is the same value there [P1214]", () => {
    const value = { text: "</script><!-- \u2028\u2029" }
    const json = scriptJson(value)
    expect(json).toBe(String.raw`{"text":"\u003c/script\u003e\u003c!-- \u2028\u2029"}`)
    expect(JSON.parse(json)).toEqual(value)
  })
})
