/** What is mutated, and the tests that are chosen for it. */
import { existsSync } from "node:fs"
import { join, posix } from "node:path"
import { describe, expect, it } from "vitest"
import { pathsIn, root } from "../../../scripts/files.ts"
import { filesFor } from "../src/choice.ts"
import { targetOf, targets } from "../src/targets.ts"

const sources = pathsIn("packages", (path) => path.endsWith(".ts"))
const tests = pathsIn("test", (path) => path.endsWith(".test.ts"))

describe.each(targets)("the target $name", ({ name, tables = [] }) => {
  it("has sources, and tests in the folders that mirror them", () => {
    const own = sources.filter((path) => targetOf(path)?.name === name)
    expect(own).not.toEqual([])
    const folders = new Set(own.map((path) => posix.dirname(path).replace(/^packages\/(\w+)\/src/, "test/$1")))
    expect([...folders].filter((folder) => !tests.some((path) => posix.dirname(path) === folder))).toEqual([])
  })

  it("has tables that exist", () => {
    expect(tables.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

describe("the test files of a source", () => {
  const test = (file: string, hits: Readonly<Record<string, number>> = {}) => ({
    key: `${file} > x`,
    file,
    title: "x",
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

  it("are also the tables of its target", () => {
    const target = targets.find(({ tables }) => tables !== undefined)
    const own = sources.find((path) => targetOf(path) === target) ?? ""
    expect(filesFor(own, [], new Map())).toEqual(target?.tables)
  })
})
