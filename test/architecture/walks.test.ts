/** The walks of `docs/architecture.md` follow the imports of core. */
import { describe, expect, it } from "vitest"
import { type File, filesIn, read } from "../../scripts/files.ts"
import { walksIn, walkViolations } from "./_support/walks.ts"

const walks = walksIn(read("docs/architecture.md").text)
const sources = filesIn("packages/core/src")

describe("docs/architecture.md", () => {
  it("walks a call, a failure, a word and a suspension", () => {
    expect(walks.map(({ title }) => title)).toEqual([
      "A tool call",
      "A failure that is told",
      "A streamed word",
      "A suspension"
    ])
  })

  it.each(walks)("$title: each step imports the one before it, or is imported by it", (walk) => {
    expect(walkViolations(walk, sources)).toEqual([])
  })
})

describe("walkViolations", () => {
  const file = (name: string, ...imports: ReadonlyArray<string>): File => ({
    path: `packages/core/src/${name}.ts`,
    text: imports.map((path) => `import type { A } from "${path}"`).join("\n")
  })
  const files = [file("run/Run", "./turn.ts"), file("run/turn", "../tool/Toolset.ts"), file("tool/Toolset")]
  const violations = (...steps: ReadonlyArray<string>) => walkViolations({ title: "A walk", steps }, files)

  it("accepts steps along imports, in both directions", () => {
    const steps = ["`run/Run` asks.", "`run/turn` settles.", "`tool/Toolset` finds.", "`run/turn` closes."]
    expect(violations(...steps)).toEqual([])
  })

  it("rejects steps between which no import is", () => {
    expect(violations("`run/Run` asks.", "`tool/Toolset` finds.")).toEqual([
      "A walk: neither of packages/core/src/run/Run.ts and packages/core/src/tool/Toolset.ts imports the other"
    ])
  })

  it.each(["`run/Runs` asks.", "The loop asks.", "It is `run/Run` that asks."])("rejects %s", (step) => {
    expect(violations("`run/turn` settles.", step)).toEqual([`A walk: no source of core: ${step}`])
  })

  it("rejects a list that is too long, and one of a single step", () => {
    expect(violations("`run/Run` asks.")).toEqual(["A walk: 1 steps, not 2 to 12"])
    const long = Array.from({ length: 13 }, (_, at) => (at % 2 === 0 ? "`run/Run` asks." : "`run/turn` settles."))
    expect(violations(...long)).toEqual(["A walk: 13 steps, not 2 to 12"])
  })
})

describe("walksIn", () => {
  it("reads the numbered items of its section alone", () => {
    const page =
      "## Before\n\n### No\n\n1. `a/B` no\n\n## Four walks\n\nText.\n\n### One\n\n1. `a/B` does.\n   More.\n2. c\n\n### Two\n\n## After\n\n### No\n\n1. d\n"
    expect(walksIn(page)).toEqual([
      { title: "One", steps: ["`a/B` does.", "c"] },
      { title: "Two", steps: [] }
    ])
  })
})
