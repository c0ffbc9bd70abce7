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
    ["a sentence in two lines", "so that\n  one is read"],
    ["a comment in several lines", " * so that\n *  one is read"],
    ["comments by line", "// so that\n  // one is read"],
    ["a quotation", "> so that\n> one is read"],
    ["a text in two pieces", '"so that " +\n  "one is read"']
  ])("are pronouns of two words in %s", (_, text) => {
    expect(pronounsIn({ path: "a.md", text }).map(({ line, word }) => [line, word])).toEqual([[1, "that one"]])
  })

  it("are pronouns that are a part of a name", () => {
    const text = "isNobody whateverElse IS_SOMEBODY_HERE is_nobody that_one thatOne nobodies Anybody that is one"
    expect(pronounsIn({ path: "a.ts", text }).map(({ word }) => word)).toEqual([
      "nobody",
      "whatever",
      "somebody",
      "nobody",
      "that one"
    ])
  })

  it.each([
    ["a constant", `const told = 1`, "told"],
    ["a function", `function isTold() {}`, "isTold"],
    ["a parameter", `export const f = (told: string) => 1`, "told"],
    ["a parameter with a default", `export const f = (told = 1) => 1`, "told"],
    ["a parameter that takes the rest", `export const f = (...told) => 1`, "told"],
    ["a parameter that is a property", `class A { constructor(private readonly told: string) {} }`, "told"],
    ["such a parameter with a default", `class A { constructor(readonly told = 1) {} }`, "told"],
    ["a caught failure", `try { f() } catch (told) {}`, "told"],
    ["a variable that a pattern names anew", `export const { a: told } = b`, "told"],
    ["an element of a pattern", `const [told] = b`, "told"],
    ["an element with a default", `const [a, [told = 1]] = b`, "told"],
    ["the rest of a pattern", `const { a, ...told } = b`, "told"],
    ["a type", `type told = string`, "told"],
    ["a parameter of a type", `type A<Told> = 1`, "Told"],
    ["an inferred type", `type A<B> = B extends [infer Told] ? 1 : 2`, "Told"],
    ["a mapped type", `type A = { [Told in B]: 1 }`, "Told"],
    ["an element of a type", `type A = [told: string]`, "told"],
    ["an index", `type A = { [told: string]: 1 }`, "told"],
    ["a field of an interface", `interface A { readonly told: string }`, "told"],
    ["a private field", `class A { #told = 1 }`, "told"],
    ["an abstract method", `abstract class A { abstract told(): void }`, "told"],
    ["an abstract property", `abstract class A { abstract told: string }`, "told"],
    ["a member of an enumeration", `enum A { told }`, "told"],
    ["an export", `export { a as told }`, "told"],
    ["an export of another module", `export { a as told } from "./a.ts"`, "told"],
    ["a namespace", `export * as Told from "./a.ts"`, "Told"],
    ["an import", `import { a as told } from "./a.ts"`, "told"],
    ["an imported namespace", `import * as Told from "./a.ts"`, "Told"],
    ["a key", `export const a = { told: 1 }`, "told"],
    ["a key with dots", `export const a = { "kintsugi.told": 1 }`, "kintsugi.told"],
    ["a key of words", `export const a = { "a told b": 1 }`, "a told b"],
    ["a computed key that is a text", `export const a = { ["a.told"]: 1 }`, "a.told"],
    ["a kind of event", `export const a = { type: "tool-told" }`, `"tool-told"`],
    ["a kind of event in a type", `type A = { readonly type: "tool-told" }`, `"tool-told"`],
    ["one of several kinds", `type A = { kind: "a" | "told" }`, `"told"`],
    ["a kind by a condition", `export const a = { kind: b ? "a" : ("told" as const) }`, `"told"`],
    ["a tag", `class A { readonly _tag = "Told" }`, `"Told"`],
    ["a declared event", `event("tool-told", { a: 1 })`, `"tool-told"`],
    ["a tag of a schema", `Schema.tag("told")`, `"told"`],
    ["a schema of texts", `Schema.Literals(["a", "told"])`, `"told"`],
    ["a class with a tag", `class A extends Schema.TaggedClass<A>("a")("Told", {}) {}`, `"Told"`],
    ["an error with a tag", `class A extends Schema.TaggedError<A>()("Told", {}) {}`, `"Told"`],
    ["a verdict", `export const a = { verdict: "told" }`, `"told"`],
    ["a chooser", `export const a = { by: "told" }`, `"told"`],
    ["a status", `export const a = { status: "told" }`, `"told"`],
    ["an outcome in a type", `type A = { readonly outcome?: "a" | "told" }`, `"told"`],
    ["a subject", `export const a = { about: "told" }`, `"told"`],
    ["an action", `export const a = { action: b ? "a" : "told" }`, `"told"`],
    ["a type of one text", `type Mode = "told"`, `"told"`],
    ["a type of several texts", `export type Mode = "a" | ("b" | "told")`, `"told"`],
    ["a type of a list of texts", `type Modes = readonly ["a", "told"]`, `"told"`],
    ["a type of the items of a list", `type Modes = ("a" | "told")[]`, `"told"`],
    ["a type by a condition", `type Mode<A> = A extends 1 ? "a" : "told"`, `"told"`],
    ["a constant list of texts", `export const modes = ["a", "told"] as const`, `"told"`],
    ["a list in a list", `export const modes = [["a"], ["told"]] as const satisfies Modes`, `"told"`]
  ])("are seen in the name of %s", (_, source, name) => {
    expect(foundIn(source)).toEqual([`1 ${name} told`])
  })

  it.each([
    ["a text", `Effect.logWarning("It runs again.")`, "It runs again."],
    ["the text between values", "Effect.logInfo(`${a} runs again ${b}`)", " runs again "],
    ["a text of several pieces", `logError("It runs " + "again")`, "again"],
    ["a constant", `Effect.logInfo(notice)\nconst notice = "It runs again."`, "It runs again."],
    ["a function", `const notice = (a) => a + " again"\nEffect.logInfo(notice(1))`, " again"],
    ["a function behind others", `Effect.log(f())\nfunction f() { return g }\nconst g = "again"`, "again"],
    ["a piped message", `a.pipe(Effect.annotateLogs("again", 1))`, "again"],
    ["a span", `a.pipe(Effect.withSpan("run again"))`, "run again"],
    ["a traced function", `Effect.fn("run.again")(function* () {})`, "run.again"],
    ["a metric", `Metric.counter("runs_again")`, "runs_again"],
    ["the description of a metric", `Metric.histogram("a", { description: "Run again." })`, "Run again."]
  ])("are seen in what a source logs: %s", (_, source, text) => {
    expect(foundIn(source).map((found) => found.replace(/^\d+ /, ""))).toEqual([`${text} again`])
  })

  it.each([
    ["asked", "model call"],
    ["asks", "model call"],
    ["heard", "listener"],
    ["hooks", "listener"],
    ["captured", "checkpoint"],
    ["opened", "checkpoint"]
  ])("are refused in another form as well where a format has them: %s", (word, better) => {
    expect(foundIn(`export const a = { type: "call-${word}" }`)).toEqual([`1 "call-${word}" ${word}`])
    expect(foundIn(`type Mode = "${word}" | "b"`)).toEqual([`1 "${word}" ${word}`])
    expect(foundIn(`const ${word} = 1`)).toEqual([])
    expect(betterThan(word)).toBe(better)
  })

  it("are ordinary words in the sentences of a type or a constant list", () => {
    expect(foundIn(`type Why = "There is no model here that could be told"`)).toEqual([])
    expect(foundIn(`const texts = ["it is told", "and again"] as const`)).toEqual([])
    expect(foundIn(`const plain = ["told"]`)).toEqual([])
  })

  it("are ordinary words in other texts", () => {
    expect(foundIn(`const a = "It runs again."\nEffect.logInfo("It runs.")`)).toEqual([])
    expect(foundIn(`Effect.withSpan("a")(f(() => "again"))\nsummary("again")\nMath.log("again")`)).toEqual([])
    expect(foundIn(`const { told } = a\nimport { kept as told2 } from "a"\nexport { b }`)).toEqual(["2 told2 told"])
  })

  it("are seen in the name of a file", () => {
    expect(namesIn({ path: `x/toldTexts.ts`, text: "" })).toEqual([
      { path: `x/toldTexts.ts`, line: 1, word: "told", name: `toldTexts` }
    ])
  })

  it("are seen in a source with JSX", () => {
    expect(namesIn({ path: "page.tsx", text: "export const Page = () => {\n  const told = <p />\n}" })).toEqual([
      { path: "page.tsx", line: 2, word: "told", name: "told" }
    ])
  })

  it("are whole words of a name, and not those of others", () => {
    expect(wordsOf("isHTMLOpen2_or-Close")).toEqual(["is", "html", "open", "or", "close"])
    expect(foundIn(`const openAi = 1, openFor = 2, halfOpen = 2.5, tolds = 3, reopened = 4`)).toEqual([])
    expect(foundIn(`export const a = { told }`)).toEqual([])
    expect(betterThan("told")).toMatch(/tell/)
  })

  it("are allowed in few places, each with its reason", () => {
    expect(allowed.length).toBeLessThanOrEqual(20)
    for (const { because } of allowed) expect(because).not.toBe("")
  })
})
