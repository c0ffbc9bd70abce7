/** Runs tests with mutants that few others come by, until each test has found one out or there is none left. */
import { run } from "./processes.ts"
import type { Hunt, Line, Measured } from "./protocol.ts"

/** Tests that are hunted for in one process. */
const HUNTS = 150

/** The tests, by their numbers, that found something out. */
export const hunt = async (
  tests: ReadonlyArray<Measured>,
  hunts: ReadonlyArray<Hunt>,
  say: (line: string) => void
): Promise<ReadonlySet<number>> => {
  const useful = new Set<number>()
  const plain = tests.map(({ key, ms }) => ({ key, ms }))
  const filesOf = (some: ReadonlyArray<Hunt>) => {
    const used = some.flatMap(({ test, tries }) => [test, ...tries.flatMap(({ others }) => others.map(([one]) => one))])
    return [...new Set(used.map((index) => tests[index]?.file ?? ""))]
  }
  let count = 0
  for (let at = 0; at < hunts.length; at += HUNTS) {
    let left = hunts.slice(at, at + HUNTS)
    while (left.length > 0) {
      left = left.filter(({ test }) => !useful.has(test))
      const done = new Set<number>()
      let dropped: string | undefined
      const settle = (line: Line) => {
        if (line.type === "hunted") {
          done.add(line.test)
          line.finders.forEach((finder) => useful.add(finder))
        } else if (line.type === "dropped") dropped = line.mutant
      }
      const said = await run({ mode: "hunts", files: filesOf(left), tests: plain, hunts: left }, settle)
      if (said.lines.at(-1)?.type === "done") break
      const mutant = dropped ?? said.stuckAt?.mutant ?? ""
      if (mutant === "") throw new Error(`Vitest ended without a result\n${said.printed}`)
      left = left
        .filter(({ test }) => !done.has(test))
        .map((one) => ({ ...one, tries: one.tries.filter((attempt) => attempt.mutant !== mutant) }))
        .filter(({ tries }) => tries.length > 0)
    }
    count += Math.min(HUNTS, hunts.length - at)
    say(`hunted for ${count} of ${hunts.length} tests: ${useful.size} tests find something out`)
  }
  return useful
}
