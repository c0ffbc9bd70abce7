/** Which words the lint step sees in a text and in a source. */
import { describe, expect, it } from "vitest"
import { allowed } from "../../scripts/words/allowed.ts"
import { betterThan, namesIn, pronounsIn, wordsOf } from "../../scripts/words/finding.ts"

const foundIn = (text: string) =>
  namesIn({ path: "a.ts", text }).map(({ line, name, word }) => `${line} ${name} ${word}`)

describe("words", () => {
  it("are pronouns without a referent, in any text and any case", () => {
    const text = "one\nNobody reads it, and nobody writes it.\nnobodys"
    expect(pronounsIn({ path: "a.md", text }).map(({ line, word }) => [line, word])).toEqual([
      [2, "nobody"],
      [2, "nobody"]
    ])
  })

  it.each([
    ["a constant", `const told = 1`, "told"],
    ["a function", `function isTold() {}`, "isTold"],
    ["a parameter", `export const f = (told: string) => 1`, "told"],
    ["a destructured parameter with a default", `export const f = (told = 1) => 1`, "told"],
    ["a variable that a pattern names anew", `export const { a: told } = b`, "told"],
    ["a type", `type told = string`, "told"],
    ["a field of an interface", `interface A { readonly told: string }`, "told"],
    ["a key", `export const a = { told: 1 }`, "told"],
    ["a kind of event", `export const a = { type: "tool-told" }`, `tool-told`],
    ["a kind of event in a type", `type A = { readonly type: "tool-told" }`, `tool-told`]
  ])("are seen in the name of %s", (_, source, name) => {
    expect(foundIn(source)).toEqual([`1 ${name} told`])
  })

  it("are seen in the name of a file", () => {
    expect(namesIn({ path: `x/toldTexts.ts`, text: "" })).toEqual([
      { path: `x/toldTexts.ts`, line: 1, word: "told", name: `toldTexts` }
    ])
  })

  it("are whole words of a name, and not those of others", () => {
    expect(wordsOf("isHTMLOpen2_or-Close")).toEqual(["is", "html", "open", "or", "close"])
    expect(foundIn(`const openAi = 1, openFor = 2, tolds = 3, reopened = 4`)).toEqual([])
    expect(foundIn(`export const a = { told }`)).toEqual([])
    expect(betterThan("told")).toMatch(/tell/)
  })

  it("are allowed in few places, each with its reason", () => {
    expect(allowed.length).toBeLessThanOrEqual(20)
    for (const { because } of allowed) expect(because).not.toBe("")
  })
})
