/** The page of the results, and what a run fails for. */
import { describe, expect, it } from "vitest"
import { hashOf } from "../src/hash.ts"
import { complaints, page } from "../src/report.ts"
import { reasonsIn } from "../src/reasons.ts"
import { type FileResult, resultOf, retriedOf, sourceOf, survivorsIn } from "../src/results.ts"

const file = (name: string, text = name) => ({ path: `packages/core/src/${name}.ts`, text })
const result = (name: string, killed: number, more: Partial<FileResult> = {}): FileResult => ({
  file: file(name).path,
  commit: "abc",
  source: sourceOf(file(name)),
  mutants: 100,
  killed,
  timeouts: 0,
  survived: 100 - killed,
  uncompilable: 0,
  unexplained: [],
  survivors: [],
  ...more
})

describe("a run", () => {
  it("fails for a file that is below its least score, and for survivors without a reason", () => {
    const weak = result("weak", 79, { unexplained: ["2: `true` for a > b"] })
    expect(complaints([result("strong", 80), weak], false)).toEqual([
      "packages/core/src/weak.ts: the score is 79.0 %, below 80 %",
      "packages/core/src/weak.ts:2: `true` for a > b survives, without a reason"
    ])
  })

  it("takes a reason for each survivor instead of the score of a file", () => {
    expect(complaints([result("small", 0, { mutants: 1, survived: 1 })], false)).toEqual([])
  })

  it("judges packages and everything where all is known", () => {
    expect(complaints([result("a", 92)], true)).toEqual(["core: the score is 92.0 %, below 93 %"])
    expect(complaints([result("a", 93), result("b", 93)], true)).toEqual([])
  })
})

describe("the page", () => {
  const measured = { hash: hashOf("as it was"), commit: "abc", share: 1 }
  const lines = page(
    [result("a", 90, { timeouts: 5, survived: 5, unexplained: ["1: `x` for y"], of: 400 }), result("b", 100)],
    [file("a"), file("b", "changed"), file("c")],
    [
      {
        ...measured,
        file: "test/core/a.test.ts",
        tests: 7,
        idle: ["does nothing"],
        explained: ["z"],
        apart: ["x", "y"]
      },
      { ...measured, file: "test/view/b.test.ts", tests: 1, idle: ["did nothing"], explained: [], apart: [] },
      { ...measured, file: "test/view/c.test.ts", share: 0.559, tests: 2, idle: ["may do"], explained: [], apart: [] }
    ],
    [
      { path: "test/core/a.test.ts", text: "as it was" },
      { path: "test/view/b.test.ts", text: "as it is" }
    ]
  ).split("\n")

  it("has a row for each file with its commit, and marks those that have changed since", () => {
    expect(lines).toContain("| `a.ts` | 100 | 90 | 5 | 5 | 4 | 0 | 95.0 | 400 | abc |")
    expect(lines).toContain("| `b.ts` | 100 | 100 | 0 | 0 | 0 | 0 | 100.0 | 100 | abc † |")
    expect(lines).toContain("| **all** | 200 | 190 | 5 | 5 | 4 | 0 | 97.5 | 2 of 3 |")
    expect(lines).toContain("| view | 0 | 0 | 0 | 0 | 0 | 0 | – | 0 of 0 |")
  })

  it("counts the tests that find out nothing, and names them once the search has ended, those of files that have changed since with a mark", () => {
    expect(lines).toContain("| core | 7 | 100 | 2 | 1 | 2 | 1 |")
    expect(lines).toContain("| view | 3 | 55 | 2 | 0 | 0 | 2 |")
    expect(lines).toContain("- `test/core/a.test.ts`: does nothing")
    expect(lines).toContain("- `test/view/b.test.ts` †: did nothing")
    expect(lines.join("\n")).not.toContain("may do")
  })

  it("says how much was tried", () => {
    expect(lines.find((line) => line.startsWith("Tried:"))).toMatch(/^Tried: 2 of 3 files. 1 files/)
  })
})

describe("survivors that are tried again", () => {
  const source = { path: "packages/core/src/a.ts", text: "// Mutant `1` survives: no matter\nf(0)\ng(0)\nh(0)\n" }
  const mutant = (line: number, to: string) => ({
    id: `${line}${to}`,
    file: source.path,
    line,
    text: source.text.split("\n")[line - 1] ?? "",
    mutator: "Number",
    from: "0",
    to,
    nth: 1
  })
  const [explained, weak, weaker, sound] = [mutant(2, "1"), mutant(3, "1"), mutant(4, "1"), mutant(4, "2")] as const
  const all = [explained, weak, weaker, sound]
  const { reasons } = reasonsIn(source)
  const survived = [explained, weak, weaker].map((mutant) => ({ mutant, status: "survived" as const, ran: 1 }))
  const outcomes = [...survived, { mutant: sound, status: "killed" as const, ran: 1 }]
  const before = resultOf(source, outcomes, 0, reasons, { commit: "old", of: 9 })

  it("are those that no reason explains, wherever their lines are now", () => {
    expect(before).toMatchObject({ mutants: 4, killed: 1, survived: 3, unexplained: ["3: `1` for 0", "4: `1` for 0"] })
    expect(survivorsIn(before, all, reasons)).toEqual([weak, weaker])
    const moved = all.map((one) => ({ ...one, line: one.line + 5 }))
    expect(survivorsIn(before, moved, [])).toEqual(moved.slice(0, 3))
  })

  it("leave the others as they were found out", () => {
    const outcomesNow = [
      { mutant: weak, status: "killed" as const, ran: 1 },
      { mutant: weaker, status: "survived" as const, ran: 1 }
    ]
    const after = retriedOf(before, all, outcomesNow, reasons, "new")
    expect(after).toEqual({
      ...before,
      commit: "new",
      killed: 2,
      survived: 2,
      unexplained: ["4: `1` for 0"],
      survivors: [before.survivors?.[0], before.survivors?.[2]]
    })
    expect(survivorsIn(after, all, reasons)).toEqual([weaker])
  })
})
