/** Fields of JSON of any form, and errors in words. */
import { describe, expect, it } from "vitest"
import { errorLine, messageOf, tagOf } from "../../../packages/view/src/recording/ErrorWords.ts"
import {
  amountAt,
  asText,
  at,
  fieldOf,
  flagAt,
  itemsAt,
  numberAt,
  textAt
} from "../../../packages/view/src/recording/Fields.ts"

describe("a field [P1215]", () => {
  it("is that of an object alone, and its own [P1215]", () => {
    expect(fieldOf({ a: 1 }, "a")).toBe(1)
    expect(fieldOf([7], "0")).toBe(7)
    for (const [value, key] of [
      [{ a: 1 }, "b"],
      ["text", "length"],
      [null, "a"],
      [undefined, "a"],
      [{}, "constructor"]
    ] as const)
      expect(fieldOf(value, key)).toBeUndefined()
  })

  it("is found by a path [P1215]", () => {
    expect(at({ a: { b: [3] } }, "a", "b", "0")).toBe(3)
    expect(at(5)).toBe(5)
    expect(at({ a: null }, "a", "b")).toBeUndefined()
  })

  it("is read as what it is, and as nothing else [P1215]", () => {
    const value = { text: "x", yes: true, no: false, word: "true", one: 1, endless: Infinity, list: [1, 2] }
    expect([textAt(value, "text"), textAt(value, "one"), textAt("x")]).toEqual(["x", undefined, "x"])
    expect([flagAt(value, "yes"), flagAt(value, "no"), flagAt(value, "word")]).toEqual([true, false, false])
    expect([numberAt(value, "one"), numberAt(value, "text"), numberAt(value, "endless")]).toEqual([
      1,
      undefined,
      undefined
    ])
    expect([itemsAt(value, "list"), itemsAt(value, "text"), itemsAt(value, "none")]).toEqual([[1, 2], [], []])
  })

  it("is no amount below nothing, or beyond what can be added [P1216]", () => {
    expect([-1, 0, 0.5, 1e300, "1"].map((value) => amountAt(value))).toEqual([
      0,
      0,
      0.5,
      Number.MAX_SAFE_INTEGER,
      undefined
    ])
  })
})

describe("a value as text [P1218]", () => {
  it("is itself, short JSON in one line, or long JSON in several [P1218]", () => {
    expect([asText("a\nb"), asText(undefined), asText(null), asText({ a: [1] })]).toEqual([
      "a\nb",
      "",
      "null",
      '{"a":[1]}'
    ])
    expect(asText({ a: "x".repeat(52) })).toBe(`{"a":"${"x".repeat(52)}"}`)
    expect(asText({ a: "x".repeat(53) })).toBe(`{\n  "a": "${"x".repeat(53)}"\n}`)
  })

  it("is one line if it is nested deeper than ten levels [P1218]", () => {
    const nested = (levels: number): unknown => (levels === 0 ? "x".repeat(60) : [nested(levels - 1)])
    expect(asText(nested(10)).split("\n")).toHaveLength(21)
    expect(asText(nested(11))).toBe(JSON.stringify(nested(11)))
  })
})

describe("an error in words [P1218]", () => {
  it("has the tag, else the name, else a general one [P1218]", () => {
    const errors = [{ _tag: "A", name: "B" }, { name: "B" }, {}, "text", undefined]
    expect(errors.map(tagOf)).toEqual(["A", "B", "Error", "Error", "Error"])
  })

  it("has the message, the text itself, or its JSON [P1218]", () => {
    const errors = [{ message: "m", a: 1 }, "text", undefined, null, { a: 1 }, { message: 5 }]
    expect(errors.map(messageOf)).toEqual(["m", "text", "", "null", '{"a":1}', '{"message":5}'])
  })

  it("is one line of 120 letters at most [P1218]", () => {
    expect(errorLine({ _tag: "A", message: "one\ntwo" })).toBe("A: one two")
    expect(errorLine({ _tag: "A", message: "x".repeat(117) })).toBe(`A: ${"x".repeat(117)}`)
    expect(errorLine({ _tag: "A", message: "x".repeat(118) })).toBe(`A: ${"x".repeat(116)}…`)
    expect(errorLine("long text", 8)).toBe("Error:…")
  })
})
