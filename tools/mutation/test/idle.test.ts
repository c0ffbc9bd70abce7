/** Which mutants are tried for a test that may find out nothing, and what is said of it. */
import { describe, expect, it } from "vitest"
import { huntsOf, inParts, testsResults, writtenOf } from "../src/idle.ts"
import type { Measured } from "../src/protocol.ts"

const test = (title: string, hits: Readonly<Record<number, number>>, more: Partial<Measured> = {}): Measured => ({
  key: `a.test.ts > ${title}`,
  file: "a.test.ts",
  title,
  site: title,
  ms: 1,
  passed: true,
  ids: Object.keys(hits).map(Number),
  counts: Object.values(hits),
  ...more
})

const all = () => true

describe("what is tried for a test", () => {
  const tests = [
    test("a", { 1: 10, 2: 20 }),
    test("b", { 1: 30 }, { ms: 9 }),
    test("c", { 1: 50 }, { ms: 2 }),
    test("fails", { 2: 1 }, { passed: false }),
    test("types", {})
  ]

  it("is the rarest mutant first, each with the others that come by it, the quickest first", () => {
    const [first] = huntsOf(tests, ({ title }) => title === "a", { tries: 9, others: 9 })
    expect(first).toEqual({
      test: 0,
      tries: [
        { mutant: "2", hits: 20, others: [] },
        {
          mutant: "1",
          hits: 10,
          others: [
            [2, 50],
            [1, 30]
          ]
        }
      ]
    })
  })

  it("leaves out tests that fail or come by nothing, and mutants that too many tests come by", () => {
    expect(huntsOf(tests, all, { tries: 9, others: 9 }).map((hunt) => hunt.test)).toEqual([0, 1, 2])
    const [a, b] = huntsOf(tests, all, { tries: 9, others: 1 })
    expect(a?.tries.map(({ mutant }) => mutant)).toEqual(["2"])
    expect(b?.tries).toEqual([])
  })

  it("is no mutant that only rows of the same table come by too, and all its rows share what is tried", () => {
    const row = (title: string, hits: Readonly<Record<number, number>>) => test(title, hits, { site: "table" })
    const table = [row("a 1", { 1: 1, 2: 1 }), row("a 2", { 1: 1, 2: 1 }), test("b", { 1: 1 })]
    expect(huntsOf(table, ({ site }) => site === "table", { tries: 2, others: 1 })).toEqual([
      { test: 0, tries: [{ mutant: "2", hits: 1, others: [] }] },
      { test: 1, tries: [{ mutant: "2", hits: 1, others: [] }] }
    ])
  })

  it("is bounded, and taken from all over what is come by", () => {
    const ids = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [at, 1]))
    const [only] = huntsOf([test("a", ids)], all, { tries: 4, others: 9 })
    expect(only?.tries.map(({ mutant }) => mutant)).toEqual(["0", "1", "12", "24"])
  })
})

describe("the files of tests", () => {
  it("are taken together until they have a hundred tests, in their order", () => {
    const counts: Readonly<Record<string, number>> = { a: 60, b: 40, c: 1, d: 200, e: 1 }
    expect(inParts(Object.keys(counts), (file) => counts[file] ?? 0)).toEqual([["a", "b"], ["c", "d"], ["e"]])
    expect(inParts([], () => 1)).toEqual([])
  })
})

describe("what is said of a file of tests", () => {
  it("has the titles of those that found out nothing, and of those that come by nothing", () => {
    const tests = [
      test("a", { 1: 1 }),
      test("b 1", { 1: 1 }, { site: "b" }),
      test("b 2", { 1: 1 }, { site: "b" }),
      test("types", {}),
      test("fails", {}, { passed: false })
    ]
    const results = testsResults(new Map([["a.test.ts", "h"]]), writtenOf(tests), ["a.test.ts"], new Set(["b"]), "abc")
    expect(results).toEqual([{ file: "a.test.ts", hash: "h", commit: "abc", tests: 3, idle: ["a"], apart: ["types"] }])
    const [unfound] = testsResults(new Map(), writtenOf(tests), ["a.test.ts"], new Set(["a"]), "abc")
    expect(unfound?.idle).toEqual(["b 1"])
  })
})
