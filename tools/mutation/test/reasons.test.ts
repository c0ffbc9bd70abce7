/** Reasons of survivors, in the sources as they are and in planted ones. */
import { describe, expect, it } from "vitest"
import { filesIn } from "../../../scripts/files.ts"
import type { Outcome } from "../src/protocol.ts"
import { named, nameOf, reasonsIn, withoutReasons } from "../src/reasons.ts"
import { complaints, unexplained } from "../src/report.ts"
import { targetOf } from "../src/targets.ts"

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
    expect(reasons.filter(({ file }) => targetOf(file) === undefined)).toEqual([])
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

describe("a run", () => {
  const found = mutant("0", 2, "a > b", "false")
  const alive = mutant("1", 2, "a > b", "true")
  const many = Array.from({ length: 20 }, (_, nth) => outcome("killed", mutant(`more ${nth}`, 9, "a", "b")))
  const outcomes = [outcome("killed", found), outcome("survived", alive), ...many]
  const complaintsOf = (...lines: ReadonlyArray<string>) =>
    complaints({
      outcomes,
      uncompilable: 0,
      idle: { idle: [], elsewhere: [], count: 0 },
      acceptedTests: [],
      reasons: reasonsIn(source(...lines)).reasons
    })

  it("is content where each survivor has its reason", () => {
    expect(complaintsOf("// Mutant `true` survives: speed", "b()")).toEqual([])
  })

  it("reports a survivor without a reason, with the name for its comment", () => {
    expect(complaintsOf("", "b()")).toEqual([`${path}:2: // Mutant \`true\` survives, without a reason: a > b => true`])
    expect(unexplained({ outcomes, reasons: [] })).toEqual([alive])
  })

  it("reports a reason whose mutant is found out", () => {
    expect(complaintsOf("// Mutants `true`, `false` survive: speed", "b()")).toEqual([
      `${path}:2: is found out and needs no reason: a > b => false`
    ])
  })

  it("reports a reason whose mutant is not there", () => {
    expect(complaintsOf("// Mutants `true`, `a >= b` survive: speed", "b()")).toEqual([
      `${path}:2: a reason names no mutant of this line: a >= b`
    ])
  })

  it("reports a reason in a file without mutants", () => {
    const reasons = reasonsIn({
      path: "packages/core/src/index.ts",
      text: "// Mutant `a` survives: speed\nb()\n"
    }).reasons
    const results = { outcomes: many, uncompilable: 0, idle: { idle: [], elsewhere: [], count: 0 }, acceptedTests: [] }
    expect(complaints({ ...results, reasons })).toEqual([
      "packages/core/src/index.ts:2: a reason in a file that is not mutated"
    ])
  })
})
