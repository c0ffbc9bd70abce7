/** Plants a violation of each kind within one source: its imports, its exports, its size, the stability of what it uses. */
import { describe, expect, it } from "vitest"
import { type File } from "../../scripts/files.ts"
import { MAX_LINES, measure, sizeViolations, stabilityViolations } from "./_support/checks.ts"
import { exportsOf } from "./_support/exports.ts"
import { castsOf, importsOf } from "./_support/imports.ts"
import { installedEffect, stabilities } from "./_support/stability.ts"

const core = "packages/core/src"
const stabilityOf = installedEffect()
const file = (name: string, ...lines: ReadonlyArray<string>): File => ({
  path: `${core}/${name}`,
  text: lines.join("\n")
})

describe("exportsOf", () => {
  it("reads declarations, lists and marks, each name once", () => {
    const { names } = exportsOf(
      file(
        "Tool.ts",
        "export const a = 1, b = 2",
        "export function f(): void",
        "export function f(): void {}",
        "export class C {}",
        "export interface T { readonly of: U }",
        "export type U = string",
        "/** @internal */",
        'export { d as e } from "./D.ts"',
        "const g = 1",
        "export { g }"
      )
    )
    expect(names.map(({ isInternal, isNamedByOthers, name }) => [name, isInternal, isNamedByOthers])).toEqual([
      ["a", false, false],
      ["b", false, false],
      ["f", false, false],
      ["C", false, false],
      ["T", false, false],
      ["U", false, true],
      ["e", true, false],
      ["g", false, false]
    ])
  })
})

describe("importsOf", () => {
  it("finds every kind of import, and none in comments and strings", () => {
    const found = importsOf(
      file(
        "Tool.ts",
        '/** import * as No from "./No.ts" */',
        'import * as A from "./A.ts"',
        "import {",
        "  type B,",
        "  b as c",
        '} from "./B.ts"',
        'import type { D } from "./D.ts"',
        'export * from "./E.ts"',
        'export * as F from "./F.ts"',
        'export { g as h } from "./G.ts"',
        'import "./I.ts"',
        'type J = import("./J.ts").J',
        'const k = import("./K.ts")',
        "const text = 'import x from \"./L.ts\"'",
        "const used: A.One = A.two(`${A.three}`)"
      )
    )
    expect(found.map(({ from, line, names }) => [line, from, ...names])).toEqual([
      [2, "./A.ts", "One", "two", "three"],
      [3, "./B.ts", "B", "b"],
      [7, "./D.ts", "D"],
      [8, "./E.ts", "*"],
      [9, "./F.ts", "*"],
      [10, "./G.ts", "g"],
      [11, "./I.ts"],
      [12, "./J.ts", "J"],
      [13, "./K.ts", "*"]
    ])
  })
})

describe("stabilityViolations", () => {
  it("reads the tags of declarations, renamed exports and names that are type and value", () => {
    const tags = stabilities(
      [
        "/** Module. @stability stable */",
        'import * as X from "./X.ts"',
        "/** @stability stable */",
        "export const a = 1",
        "/** @stability unstable */",
        "export function b(): void {}",
        "const c_ = 1",
        "export {",
        "  /** @stability experimental */",
        "  c_ as c",
        "}",
        "/** @stability stable */",
        "export interface D {}",
        "/** @stability unstable */",
        "export const D = 1",
        "export const e = 1"
      ].join("\n")
    )
    expect(Object.fromEntries(tags)).toEqual({
      a: "stable",
      b: "unstable",
      c: "experimental",
      D: "unstable",
      e: "untagged"
    })
  })

  it("accepts what the installed Effect tags stable", () => {
    const planted = file(
      "Tool.ts",
      'import * as Schema from "effect/Schema"',
      'import * as Effect from "effect/Effect"',
      'import { dual } from "effect/Function"',
      "export class No extends Schema.TaggedError<No>()('No', { a: Schema.Array(Schema.String) }) {}",
      "export const run: Effect.Effect<void> = Effect.void"
    )
    expect(stabilityViolations([planted], stabilityOf)).toEqual([])
  })

  it.each([
    [
      "a member of a namespace",
      ['import * as Plan from "effect/ExecutionPlan"', "Plan.make()"],
      "make of effect/ExecutionPlan: unstable"
    ],
    [
      "a member used as a type",
      ['import type * as Plan from "effect/ExecutionPlan"', "type A = Plan.ExecutionPlan<never>"],
      "ExecutionPlan of effect/ExecutionPlan: unstable"
    ],
    ["a named import", ['import { make } from "effect/ExecutionPlan"'], "make of effect/ExecutionPlan: unstable"],
    [
      "a name that is not there",
      ['import * as Schema from "effect/Schema"', "Schema.nowhere"],
      "nowhere of effect/Schema: no such export"
    ],
    [
      "a re-export of everything",
      ['export * as Plan from "effect/ExecutionPlan"'],
      "* of effect/ExecutionPlan: more than its stable part"
    ]
  ])("rejects %s", (_, lines, line) => {
    expect(stabilityViolations([file("Tool.ts", ...lines)], stabilityOf)).toEqual([`${core}/Tool.ts:1 uses ${line}`])
  })
})

describe("sizeViolations", () => {
  it("counts lines and casts, and not as const or renamed imports", () => {
    const planted = file(
      "Tool.ts",
      'import { a as b } from "./A.ts"',
      "// a comment as string",
      'export const c = "x" as const',
      "export const d = c as unknown as number"
    )
    expect(measure([planted])).toEqual([{ path: `${core}/Tool.ts`, lines: 4, casts: 2 }])
    expect(castsOf(planted).map(({ line }) => line)).toEqual([4, 4])
    expect(sizeViolations([planted])).toEqual([])
  })

  it("rejects a long file and a cast to any", () => {
    const long = file("Long.ts", ...Array.from({ length: MAX_LINES + 1 }, () => "//"))
    expect(sizeViolations([long, file("Any.ts", "", "export const a = 1 as any")])).toEqual([
      `${core}/Long.ts has 401 lines, more than 400`,
      `${core}/Any.ts:2 casts to any`
    ])
  })
})
