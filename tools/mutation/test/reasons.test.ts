/** Reasons of survivors, in the sources as they are and in planted ones. */
import { describe, expect, it } from "vitest"
import { filesIn } from "../../../scripts/files.ts"
import { areaOf } from "../src/areas.ts"
import type { Outcome } from "../src/protocol.ts"
import { named, nameOf, reasonsIn, withoutReasons } from "../src/reasons.ts"
import { idleReasons, resultOf, sourceOf } from "../src/results.ts"

const path = "packages/core/src/recovery/Backoff.ts"
const source = (...lines: ReadonlyArray<string>) => ({ path, text: `${lines.join("\n")}\n` })
const problemsOf = (...lines: ReadonlyArray<string>) => reasonsIn(source(...lines)).problems

const mutant = (id: string, line: number, from: string, to: string) => ({
  id,
  file: path,
  line,
  text: "",
  mutator: "",
  from,
  to,
  nth: 1
})
const outcome = (status: Outcome["status"], of: ReturnType<typeof mutant>): Outcome => ({ mutant: of, status, ran: 1 })

describe("the sources", () => {
  const all = filesIn("packages", (name) => name.endsWith(".ts")).map(reasonsIn)
  const reasons = all.flatMap((one) => one.reasons)

  it("have no reason that cannot be read", () => {
    expect(all.flatMap(({ problems }) => problems)).toEqual([])
  })

  it("have reasons, and only where mutants are tried", () => {
    expect(reasons.length).toBeGreaterThan(40)
    expect(reasons.filter(({ file }) => areaOf(file) === undefined)).toEqual([])
  })
})

describe("a reason", () => {
  it("names mutants of the first line below its comment", () => {
    const { problems, reasons } = reasonsIn(
      source(
        "const a = 1",
        "  // another comment",
        "  // Mutants `true` for `a > b`, `{ a: 1, b }` #2 survive: speed: the",
        "  // rest `does` it",
        "  // Mutant `` `x` `` survives: unread",
        "  if (a > b) b()"
      )
    )
    expect(problems).toEqual([])
    const reason = "speed: the rest `does` it"
    expect(reasons).toEqual([
      { file: path, line: 6, to: "true", from: "a > b", nth: undefined, reason },
      { file: path, line: 6, to: "{ a: 1, b }", from: undefined, nth: 2, reason },
      { file: path, line: 6, to: "`x`", from: undefined, nth: undefined, reason: "unread" }
    ])
  })

  it.each([
    "// Mutant `true` survives:",
    "// Mutant `true` survives",
    "// Mutant `true`: speed",
    "// Mutant survives: speed",
    "// mutant `true` survives: speed"
  ])("is refused: %s", (comment) => {
    expect(problemsOf("a()", comment, "b()")).toEqual([
      `${path}:2: no mutant and reason can be read of: ${comment.slice(3)}`
    ])
  })

  it("names an empty template", () => {
    const { problems, reasons } = reasonsIn(
      source("// Mutants `false`, `` `` `` for `` `b ${c}` `` #2 survive: no reader", "a()")
    )
    expect(problems).toEqual([])
    expect(reasons.map(({ from, nth, to }) => [to, from, nth])).toEqual([
      ["false", undefined, undefined],
      ["``", "`b ${c}`", 2]
    ])
  })

  it("is refused beside its line", () => {
    expect(problemsOf("b() // Mutant `true` survives: speed")).toHaveLength(1)
  })

  it.each(["// Stryker disable next-line all: speed", "/* Stryker restore all */"])(
    "is not Stryker's: %s",
    (comment) => {
      expect(problemsOf(comment, "b()")).toHaveLength(1)
    }
  )

  it("changes nothing in the facts about the source", () => {
    const plain = source("// why", "a()", "// more", "b()").text
    const explained = source(
      "// why",
      "// Mutant `` survives: x",
      "// y",
      "a()",
      "// more",
      "// Mutant `c` survives: z",
      "b()"
    )
    expect(withoutReasons(explained.text)).toBe(plain)
  })
})

describe("the name of a mutant", () => {
  const mutants = [
    mutant("0", 3, "a", ""),
    mutant("1", 3, "a", "true"),
    mutant("2", 3, "a && b", "true"),
    mutant("3", 3, '""', '"x"'),
    mutant("4", 3, '""', '"x"'),
    mutant("5", 3, "`a`", "true"),
    mutant("6", 4, "a", "true")
  ]

  it.each(mutants)("stands for mutant $id and no other", (one) => {
    const name = nameOf(one, mutants)
    const { problems, reasons } = reasonsIn(
      source(...Array.from({ length: one.line - 2 }, () => "a()"), `// Mutant ${name} survives: speed`, "b()")
    )
    expect(problems).toEqual([])
    expect(named(reasons, mutants).map((each) => each.mutants)).toEqual([[one]])
  })
})

describe("the result of a file", () => {
  const found = mutant("0", 2, "a > b", "false")
  const alive = mutant("1", 2, "a > b", "true")
  const outcomes = [outcome("killed", found), outcome("survived", alive), outcome("timeout", mutant("2", 9, "a", "b"))]
  const of = (...lines: ReadonlyArray<string>) => {
    const file = source(...lines)
    const { reasons } = reasonsIn(file)
    return { result: resultOf(file, outcomes, 3, reasons, { commit: "abc" }), idle: idleReasons(outcomes, reasons) }
  }

  it("counts, and is content where each survivor has its reason", () => {
    const { idle, result } = of("// Mutant `true` survives: speed", "b()")
    const { killed, mutants, survived, timeouts, uncompilable, unexplained } = result
    expect([mutants, killed, timeouts, survived, uncompilable, unexplained]).toEqual([3, 1, 1, 1, 3, []])
    expect(idle).toEqual([])
  })

  it("has a survivor without a reason, with the name for its comment", () => {
    expect(of("", "b()").result.unexplained).toEqual(["2: `true` for a > b"])
  })

  it("knows its source, with and without reasons in it", () => {
    expect(of("// Mutant `true` survives: speed", "b()").result.source).toBe(sourceOf(source("b()")))
    expect(of("b()").result.source).not.toBe(sourceOf(source("c()")))
  })

  it("refuses a reason whose mutant is found out, or is not there", () => {
    expect(of("// Mutants `true`, `false`, `a >= b` survive: speed", "b()").idle).toEqual([
      `${path}:2: is found out and needs no reason: a > b => false`,
      `${path}:2: a reason names no mutant of this line: a >= b`
    ])
  })
})
