/** What each suite of tests may take stands in `AGENTS.md`. */
import { expect, it } from "vitest"
import { pathsIn, read } from "../../scripts/files.ts"

const { text } = read("AGENTS.md")
const cells = [...text.matchAll(/ `((?:test|tools)\/\w+)` \| (\d+) /g)].map(
  ([, suite = "", seconds]) => [suite, Number(seconds)] as const
)

it("AGENTS.md has a line for each suite, and for nothing else", () => {
  const isPure = (path: string) => path.endsWith(".test.ts") && !path.endsWith(".process.test.ts")
  const suites = [...pathsIn("test", isPure), ...pathsIn("tools", isPure)].map((path) =>
    path.split("/").slice(0, 2).join("/")
  )
  expect(cells.map(([suite]) => suite).toSorted()).toEqual([...new Set(suites)].toSorted())
})

it("the seconds of the suites add up to the sum below them", () => {
  const all = cells.reduce((sum, [, seconds]) => sum + seconds, 0)
  expect(Number(/\| all \| (\d+) \|/.exec(text)?.[1])).toBe(all)
})
