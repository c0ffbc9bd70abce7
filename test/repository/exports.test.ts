/** The reader of exports, on planted sources; `apiPage.test.ts` compares what it reads of the packages with what they have at run time. */
import { assert, describe, it } from "vitest"
import { type Name, namesOf } from "../../scripts/exports.ts"

/** The names of the first of some sources, each by its name. */
const read = (...files: ReadonlyArray<readonly [path: string, ...lines: ReadonlyArray<string>]>) => {
  const sources = new Map(files.map(([path, ...lines]) => [path, lines.join("\n")]))
  const names = namesOf(files[0]?.[0] ?? "", (path) => ({ path, text: sources.get(path) ?? "" }))
  return Object.fromEntries(names.map((name) => [name.name, name]))
}

/** What a name is: a class, a type or another value, and a type beside it. */
const kindOf = ({ isType, value }: Name) => [value, isType]

describe("namesOf", () => {
  it("takes overloads together, and needs no comment on what they share", () => {
    const { f, g } = read([
      "a.ts",
      "/** Adds. */",
      "export function f(a: string): void",
      "// a word to the linter",
      "export function f(a: number): void",
      "export function f() {}",
      "/** @internal */",
      "export function g(a: string): void",
      "/** @internal */",
      "export function g(a: number): void",
      "export function g() {}"
    ])
    assert.deepStrictEqual([f?.comment, f?.isInternal], ["Adds.", false])
    assert.deepStrictEqual([g?.comment, g?.isInternal], ["", true])
  })

  it("tells classes, types, values, and a value and a type of one name", () => {
    const names = read([
      "a.ts",
      "/** A class. */",
      "export class C {}",
      "/** A type. */",
      "export interface T {}",
      "/** A symbol that only the compiler sees. */",
      "export declare const S: unique symbol",
      "/** The type. */",
      "export type P = typeof P.Type",
      "/** The schema. */",
      "export const P = schema",
      "/** A value that is exported below. */",
      "const V = 1",
      "type Q = 1",
      "/** A type that is exported below. */",
      "export { V, type Q }"
    ])
    assert.deepStrictEqual(Object.fromEntries(Object.entries(names).map(([name, one]) => [name, kindOf(one)])), {
      C: ["class", true],
      P: ["other", true],
      Q: [undefined, true],
      S: [undefined, true],
      T: [undefined, true],
      V: ["other", false]
    })
    assert.strictEqual(names["P"]?.comment, "The schema.")
    assert.strictEqual(names["V"]?.comment, "A value that is exported below.")
    assert.strictEqual(names["Q"]?.comment, "A type that is exported below.")
  })

  it("follows a name that is passed on, under another name, through an import, and with all others", () => {
    const names = read(
      [
        "a/a.ts",
        'import { c as d } from "./c.ts"',
        'export { b as a, type K } from "../b.ts"',
        "export { d as e }",
        'export * from "./c.ts"',
        "/** Its own. */",
        "export const own = 1"
      ],
      ["b.ts", "/** B. */", "export const b = 1", "/** K. */", "export class K {}"],
      ["a/c.ts", "/** C. */", "export const c = 1", "/** Another. */", "export const own = 2"]
    )
    assert.deepStrictEqual(
      Object.values(names).map(({ comment, from, name }) => [name, comment, from]),
      [
        ["K", "K.", "b.ts"],
        ["a", "B.", "b.ts"],
        ["c", "C.", "a/c.ts"],
        ["e", "C.", "a/c.ts"],
        ["own", "Its own.", "a/a.ts"]
      ]
    )
    assert.deepStrictEqual(names["K"] && kindOf(names["K"]), [undefined, true])
  })

  it("describes a namespace by its module, and a name of another package by the comment above it", () => {
    const names = read(
      [
        "a.ts",
        'export * as B from "./b.ts"',
        "/** Of Effect. */",
        'export { HttpClient } from "effect/http/HttpClient"',
        'export type { State } from "effect/persistence/CircuitBreaker"'
      ],
      ["b.ts", "/** The head. */", 'import "./c.ts"', "/** B. */", "export const b = 1"]
    )
    assert.deepStrictEqual(
      Object.values(names).map(({ comment, from, name }) => [name, comment, from]),
      [
        ["B", "The head.", "b.ts"],
        ["HttpClient", "Of Effect.", "effect/http/HttpClient"],
        ["State", "", "effect/persistence/CircuitBreaker"]
      ]
    )
  })

  it("takes a name for internal if all modules that export it mark it so, at its declaration or where it is passed on", () => {
    const names = read(
      [
        "a.ts",
        "/** @internal */",
        'export { a } from "./b.ts"',
        'export { b } from "./b.ts"',
        "/** @internal */",
        "export type P = 1",
        "/** Public. */",
        "export const P = 1",
        "/** Says `@internal` of others. */",
        "export const c = 1"
      ],
      ["b.ts", "/** A. */", "export const a = 1", "/**", " * B.", " *", " * @internal", " */", "export const b = 1"]
    )
    assert.deepStrictEqual(
      Object.values(names).map(({ isInternal, name }) => [name, isInternal]),
      [
        ["P", false],
        ["a", true],
        ["b", true],
        ["c", false]
      ]
    )
  })

  it("takes a comment of tags, one elsewhere and one that is no doc comment for none", () => {
    const names = read([
      "a.ts",
      "/** @since 1 */",
      "export const a = 1",
      "/* plain */",
      "export const b = 1",
      "/** of nothing */",
      "",
      "const hidden = 1",
      "export const c = hidden"
    ])
    assert.deepStrictEqual(
      Object.values(names).map(({ comment }) => comment),
      ["", "", ""]
    )
  })

  it("refuses a name that is not there, and text that does not parse", () => {
    assert.throws(() => read(["a.ts", 'export { b } from "./b.ts"'], ["b.ts", ""]), "a.ts exports b of b.ts")
    assert.throws(() => read(["a.ts", "export const = 1"]), SyntaxError)
  })
})
