/** Which regular expressions the lint step sees in a source. */
import { describe, expect, it } from "vitest"
import { expressionsIn, write } from "../../scripts/regexps/expressions.ts"
import { refusalOf } from "../../scripts/regexps/judging.ts"

const found = (text: string, builder?: string) =>
  expressionsIn([{ path: "a.ts", text }], (path, name) => path === "a.ts" && name === builder)

describe("regular expressions", () => {
  it("are judged [P1390]", () => {
    expect(refusalOf(/0+$/)).toMatch(/^2nd degree polynomial, for example on '0'\.repeat\(/)
    expect(refusalOf(/^[a-z]+$/)).toBeUndefined()
  })

  it("are found as literals, and in what RegExp is given [P1390]", () => {
    const { expressions, violations } = found(
      [
        "const words = 'one|two'",
        "const both = /a+/g.test('/no/') || RegExp('b')",
        "export const named = new RegExp(`^(?:${words})` + '$', 'i')",
        "const f = (it: RegExp) => it instanceof RegExp ? /a+/g : `${/c/y}`"
      ].join("\n")
    )
    expect(violations).toEqual([])
    expect(expressions.map((one) => [write(one), ...one.locations])).toEqual([
      ["/a+/g", "a.ts:2", "a.ts:4"],
      ["/b/", "a.ts:2"],
      ["/^(?:one|two)$/i", "a.ts:3"],
      ["/c/y", "a.ts:4"]
    ])
  })

  it.each([
    ["a name that is no constant", "export const f = (word: string) => new RegExp(`^${word}`)"],
    ["a constant that is none", "let word = 'a'\nexport const all = [new RegExp(word)]"],
    ["flags that vary", "export const f = (flags: string) => new RegExp('a', flags)"],
    ["a call", "export const f = () => RegExp(String(1))"],
    ["an alias", "const R = RegExp\nexport const one = new R('a')"],
    ["the text of a match", "export const f = (text: string) => text.match('a+b')"]
  ])("are refused whose source cannot be read: %s [P1390]", (_, text) => {
    expect(found(text).violations).toHaveLength(1)
  })

  it("may be built of words by one function alone [P1390]", () => {
    const text = "export const words = (list) => new RegExp(list.join('|'))\nconst others = (list) => new RegExp(list)"
    expect(found(text, "words").violations).toEqual([
      "a.ts:2 builds an expression: write a literal, or constants of this file"
    ])
  })
})
