/** Values and names as TypeScript. */
import { describe, expect, it } from "vitest"
import { inComment, key, list, literal, Names, quoted } from "../../../packages/view/src/replay/literals.ts"

describe("a text as a literal [P1270]", () => {
  it("is in the quotes that need fewer escapes [P1270]", () => {
    expect([quoted("a"), quoted("it's"), quoted('"a"'), quoted(`"it's"`), quoted(`'"'`)]).toEqual([
      '"a"',
      `"it's"`,
      `'"a"'`,
      String.raw`'"it\'s"'`,
      String.raw`"'\"'"`
    ])
  })

  it("keeps every escape of JSON in either quotes [P1270]", () => {
    expect(quoted('\\"\n')).toBe(String.raw`'\\"\n'`)
    expect(quoted("\\\n")).toBe(String.raw`"\\\n"`)
  })

  it("has no character that a reader does not see [P1270]", () => {
    expect(quoted("\u007f\u009f\u061c\u200e\u200f\u2028\u202e\u2066\u2069")).toBe(
      String.raw`"\u007f\u009f\u061c\u200e\u200f\u2028\u202e\u2066\u2069"`
    )
    expect(quoted("~\u00a0\u200d\u2065")).toBe('"~\u00a0\u200d\u2065"')
  })
})

it("a text in a comment stays in it, on one line [P1270]", () => {
  expect(inComment("a */ b\nc */\u001b")).toBe(String.raw`a *\/ b c *\/` + "\u241b")
})

it("a key is a name, a literal, or a computed one that is no prototype [P1270]", () => {
  expect(["a", "$_1", "1a", "a-b", "", "__proto__"].map(key)).toEqual([
    "a",
    "$_1",
    '"1a"',
    '"a-b"',
    '""',
    '["__proto__"]'
  ])
})

it("a value of JSON is on one line [P1270]", () => {
  expect([1, true, null, "a", [], {}, [1, ["b"]], { a: { "b-c": [] }, d: "e" }].map(literal)).toEqual([
    "1",
    "true",
    "null",
    '"a"',
    "[]",
    "{}",
    '[1, ["b"]]',
    '{ a: { "b-c": [] }, d: "e" }'
  ])
})

describe("a list [P1270]", () => {
  it("is on one line of 120 letters at most, with blanks within braces alone [P1270]", () => {
    expect(list("x = ", "f(", ["a", "b"], ")")).toBe("x = f(a, b)")
    expect([list("", "{", ["a"], "}"), list("", "{", [], "}")]).toEqual(["{ a }", "{}"])
    expect(list("", "(", ["x".repeat(118)], ")")).toBe(`(${"x".repeat(118)})`)
    expect(list("", "(", ["x".repeat(119)], ")")).toBe(`(\n  ${"x".repeat(119)}\n)`)
  })

  it("has a line for each item else, indented as the line around it [P1270]", () => {
    expect(list("  x = ", "f(", ["a\nb", "c"], ")", "  ")).toBe("  x = f(\n    a\n  b,\n    c\n  )")
  })
})

describe("names [P1270]", () => {
  it("read like the text, in the case of a value or of a type [P1270]", () => {
    const names = new Names([])
    expect(["refund-desk", "Look up", "a__b9", "9 lives", "—"].map((text) => names.of(text))).toEqual([
      "refundDesk",
      "lookUp",
      "aB9",
      "_9Lives",
      "unnamed"
    ])
    expect(["payment declined", "x", "—", "9a"].map((text) => names.of(text, true))).toEqual([
      "PaymentDeclined",
      "X",
      "Unnamed",
      "_9a"
    ])
  })

  it("are each given once, and none that the file or the language has [P1270]", () => {
    const names = new Names(["play", "pay2"])
    expect(["play", "pay", "pay", "pay", "delete", "await", "undefined"].map((text) => names.of(text))).toEqual([
      "play2",
      "pay",
      "pay3",
      "pay4",
      "delete2",
      "await2",
      "undefined2"
    ])
  })

  it("hide no global of the language, if they are types [P1270]", () => {
    const names = new Names([])
    expect([names.of("error", true), names.of("Error", true), names.of("map"), names.of("Map", true)]).toEqual([
      "Error2",
      "Error3",
      "map",
      "Map2"
    ])
  })
})
