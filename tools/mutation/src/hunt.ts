/** Runs the tests that come by mutants, to learn which of them find out what fewer than two others find out. */
import { run } from "./processes.ts"
import type { Hunt, Line, Measured } from "./protocol.ts"

/** Mutants that are hunted with in one process. */
const HUNTS = 300

/** The sites that found something out, and those that did before; `keep` has them as they become known. */
export const hunt = async (
  tests: ReadonlyArray<Measured>,
  hunts: ReadonlyArray<Hunt>,
  before: ReadonlySet<string>,
  keep: (useful: ReadonlySet<string>, done: number) => void
): Promise<ReadonlySet<string>> => {
  const useful = new Set(before)
  const plain = tests.map(({ key, ms, site }) => ({ key, ms, site }))
  const isSought = ([index]: readonly [test: number, hits: number]) => !useful.has(tests[index]?.site ?? "")
  const filesOf = (some: ReadonlyArray<Hunt>) => {
    const used = some.flatMap(({ comers }) => comers.map(([index]) => tests[index]?.file ?? ""))
    return [...new Set(used)]
  }
  for (let at = 0; at < hunts.length; at += HUNTS) {
    let left = hunts.slice(at, at + HUNTS).filter(({ comers }) => comers.some(isSought))
    while (left.length > 0) {
      let done = 0
      const settle = (line: Line) => {
        if (line.type !== "hunted") return
        done += 1
        line.finders.forEach((finder) => useful.add(finder))
      }
      const plan = { mode: "hunts", files: filesOf(left), tests: plain, hunts: left, useful: [...useful] } as const
      const said = await run(plan, settle)
      const last = said.lines.at(-1)
      if (last?.type === "done") break
      if (last?.type !== "dropped" && said.stuckAt === undefined)
        throw new Error(`Vitest ended without a result\n${said.printed}`)
      // the mutant at which the process ended is left out
      left = left.slice(done + 1)
    }
    keep(useful, Math.min(at + HUNTS, hunts.length))
  }
  return useful
}
