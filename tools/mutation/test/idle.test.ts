/** Which mutants are tried for a test that may find out nothing, and what is said of it. */
import { describe, expect, it } from "vitest"
import { areaOfTests } from "../src/areas.ts"
import { huntsOf, testsResults, writtenOf } from "../src/idle.ts"
import type { Measured } from "../src/protocol.ts"

const test = (title: string, hits: Readonly<Record<number, number>>, more: Partial<Measured> = {}): Measured => ({
  key: `a.test.ts > ${title}`,
  file: "a.test.ts",
  title,
  site: title,
  line: 1,
  ms: 1,
  passed: true,
  ids: Object.keys(hits).map(Number),
  counts: Object.values(hits),
  ...more
})

const all = () => true

describe("the mutants that are tried", () => {
  const tests = [
    test("a", { 1: 10, 2: 20 }),
    test("b", { 1: 30 }, { ms: 9 }),
    test("c 1", { 1: 50, 3: 1 }, { ms: 2, site: "c" }),
    test("c 2", { 1: 60, 3: 1 }, { ms: 3, site: "c" }),
    test("fails", { 4: 1 }, { passed: false }),
    test("types", {})
  ]
  const mutants = (...more: Parameters<typeof huntsOf>) => huntsOf(...more).map(({ mutant }) => mutant)

  it("are those that few sites come by first, each with all tests that come by it, the quickest first", () => {
    expect(huntsOf(tests, all, new Set())).toEqual([
      { mutant: "2", comers: [[0, 20]] },
      {
        mutant: "3",
        comers: [
          [2, 1],
          [3, 1]
        ]
      },
      {
        mutant: "1",
        comers: [
          [0, 10],
          [2, 50],
          [3, 60],
          [1, 30]
        ]
      }
    ])
  })

  it("are drawn, and some site that comes by them is sought", () => {
    expect(mutants(tests, (id) => id !== 2, new Set())).toEqual(["3", "1"])
    expect(mutants(tests, all, new Set(["a"]))).toEqual(["3", "1"])
    expect(mutants(tests, all, new Set(["a", "c"]))).toEqual(["1"])
    expect(mutants(tests, all, new Set(["a", "b", "c"]))).toEqual([])
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
    const files = [{ path: "a.test.ts", text: "" }]
    const results = testsResults(new Map([["a.test.ts", "h"]]), writtenOf(tests), files, new Set(["b"]), {
      commit: "abc",
      share: 0.5
    })
    expect(results).toEqual([
      {
        file: "a.test.ts",
        hash: "h",
        commit: "abc",
        share: 0.5,
        tests: 3,
        idle: ["a"],
        explained: [],
        apart: ["types"]
      }
    ])
    const [unfound] = testsResults(new Map(), writtenOf(tests), files, new Set(["a"]), { commit: "abc", share: 0.5 })
    expect(unfound?.idle).toEqual(["b 1"])
  })

  it("has those apart that a comment right above them explains", () => {
    const text = [
      "// Finds out nothing of its own: the limit is",
      "// that of the transport",
      'it("a", () => {})',
      "",
      "// a is a test too",
      'it("b", () => {})',
      "// Finds out nothing of its own:",
      'it("c", () => {})'
    ].join("\n")
    const tests = [test("a", { 1: 1 }, { line: 3 }), test("b", { 1: 1 }, { line: 6 }), test("c", { 1: 1 }, { line: 8 })]
    const files = [{ path: "a.test.ts", text }]
    const [result] = testsResults(new Map(), writtenOf(tests), files, new Set(), { commit: "abc", share: 0.5 })
    expect(result).toMatchObject({ idle: ["b", "c"], explained: ["a"] })
    expect(
      testsResults(new Map(), writtenOf(tests), files, new Set(["a"]), { commit: "abc", share: 0.5 })[0]?.explained
    ).toEqual([])
  })
})

describe("the package of a test", () => {
  it("is that of its folder, also where another one runs it too, or else the first one that runs it", () => {
    const nameOf = (path: string) => areaOfTests(path)?.name
    expect(["test/core", "test/providers/service/background.test.ts"].map(nameOf)).toEqual(["core", "providers"])
    expect(["test/laws/algebra.test.ts", "test/corer", "test/examples"].map(nameOf)).toEqual([
      "core",
      undefined,
      undefined
    ])
  })
})
