/** What is mutated, in which parts, and the tests that are chosen for it. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { filesIn, pathsIn, root } from "../../../scripts/files.ts"
import { areaOf, areas, isTried, ofProcesses, partOf, tablesOf } from "../src/areas.ts"
import { filesFor, sampleOf } from "../src/choice.ts"

describe.each(areas)("the area $name", ({ name, tests }) => {
  it("has sources and tests", () => {
    expect(pathsIn(`packages/${name}/src`, (path) => areaOf(path)?.name === name)).not.toEqual([])
    for (const folder of tests) expect(pathsIn(folder, isTried)).not.toEqual([])
  })
})

describe("what is mutated", () => {
  it("is each source that was written by hand", () => {
    expect(areaOf("packages/core/src/recovery/Backoff.ts")?.name).toBe("core")
    expect(areaOf("packages/view/src/page/script.ts")).toBe(undefined)
    for (const path of ofProcesses) expect([existsSync(join(root, path)), areaOf(path)]).toEqual([true, undefined])
    expect(areaOf("packages/core/src/readme.md")).toBe(undefined)
    expect(areaOf("packages/examples/src/01-hello.ts")).toBe(undefined)
  })

  it("is cut into parts that hold each file once, with no part of twice the size", () => {
    const files = filesIn("packages/core/src", (path) => areaOf(path) !== undefined)
    const parts = Array.from({ length: 9 }, (_, at) => partOf(files, at + 1, 9))
    expect(parts.flat()).toEqual(files)
    const sizes = parts.map((part) => part.reduce((sum, { text }) => sum + text.length, 0))
    expect(Math.max(...sizes)).toBeLessThan(2 * Math.min(...sizes))
  })

  it("has tables that exist", () => {
    for (const source of ["packages/providers/src/codec/Family.ts", "packages/core/src/recovery/Backoff.ts"]) {
      const tables = tablesOf(source)
      expect(tables).not.toEqual([])
      expect(tables.filter((path) => !existsSync(join(root, path)))).toEqual([])
    }
    expect(tablesOf("packages/view/src/drawing/Axis.ts")).toEqual([])
  })
})

describe("the test files of a source", () => {
  const test = (file: string, hits: Readonly<Record<string, number>> = {}) => ({
    key: `${file} > x`,
    file,
    title: "x",
    site: file,
    line: 1,
    ms: 1,
    passed: true,
    hits
  })
  const source = "packages/core/src/recovery/Backoff.ts"

  it("are those of the folder that mirrors its own, under any name, and those whose tests come by its mutants", () => {
    const all = [
      test("test/core/recovery/jitter.test.ts"),
      test("test/core/recovery/deep/jitter.test.ts"),
      test("test/core/tool/Backoff.test.ts"),
      test("test/laws/delays.test.ts", { 1: 2 })
    ]
    const shares = new Map([["test/laws/delays.test.ts > x", new Map([[source, 1]])]])
    expect(filesFor(source, all, shares)).toEqual(["test/core/recovery/jitter.test.ts", "test/laws/delays.test.ts"])
  })

  it("are at most ten of other folders, the nearest first", () => {
    const all = Array.from({ length: 20 }, (_, nth) => test(`test/laws/${nth}.test.ts`, { 1: 1 }))
    const shares = new Map(all.map(({ key }, nth) => [key, new Map([[source, (nth + 1) / 20]])]))
    expect(filesFor(source, all, shares)).toEqual(
      Array.from({ length: 10 }, (_, nth) => `test/laws/${19 - nth}.test.ts`)
    )
  })

  it("are also its tables, where they were run", () => {
    const [page = "", codes = ""] = tablesOf("packages/providers/src/codec/Family.ts")
    const far = [test(page), test(`test/laws/x.test.ts`)]
    const shares = new Map([["test/laws/x.test.ts > x", new Map([["packages/providers/src/codec/Family.ts", 1]])]])
    const found = filesFor("packages/providers/src/codec/Family.ts", far, shares)
    expect(found).toEqual([page, "test/laws/x.test.ts"])
    expect(found).not.toContain(codes)
  })
})

describe("the sample of the mutants", () => {
  const placed = (file: string, count: number, before = "") =>
    Array.from({ length: count }, (_, at) => ({
      mutant: { id: `${at}`, file, line: at, text: `${before}${at}`, mutator: "m", from: "a", to: "b", nth: 1 },
      location: { start: { line: at, column: 0 }, end: { line: at, column: 1 } },
      replacement: "b"
    }))

  it("has a quarter of each file, at least twenty, and the same ones in any order", () => {
    const [large, small, tiny] = [placed("large", 200), placed("small", 60), placed("tiny", 7)]
    const drawn = sampleOf([...large, ...small, ...tiny])
    expect(Map.groupBy(drawn, ({ mutant }) => mutant.file).get("large")?.length).toBe(50)
    expect(drawn.filter(({ mutant }) => mutant.file === "small").length).toBe(20)
    expect(drawn.filter(({ mutant }) => mutant.file === "tiny")).toEqual(expect.arrayContaining(tiny))
    expect(new Set(sampleOf(large.toReversed()))).toEqual(new Set(sampleOf(large)))
    expect(new Set(drawn.map(({ mutant }) => mutant.line)).size).toBeGreaterThan(40)
  })
})
