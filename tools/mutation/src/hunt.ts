/** Runs tests with mutants that few others come by, until each test has found one out or there is none left. */
import { run } from "./processes.ts"
import type { Hunt, Line, Measured } from "./protocol.ts"

/** A hunt that goes on in another process without a mutant; one that had begun has tried all that come before it. */
const without = ({ test, tries }: Hunt, mutant: string, isWhole: boolean): Hunt => {
  const at = tries.findIndex((one) => one.mutant === mutant)
  return { test, tries: at < 0 ? tries : isWhole ? tries.toSpliced(at, 1) : tries.slice(at + 1) }
}

/** The sites whose tests found something out. */
export const hunt = async (
  tests: ReadonlyArray<Measured>,
  hunts: ReadonlyArray<Hunt>
): Promise<ReadonlySet<string>> => {
  const useful = new Set<string>()
  const plain = tests.map(({ key, ms, site }) => ({ key, ms, site }))
  const isWanted = ({ test }: Hunt) => !useful.has(tests[test]?.site ?? "")
  const filesOf = (some: ReadonlyArray<Hunt>) => {
    const used = some.flatMap(({ test, tries }) => [test, ...tries.flatMap(({ others }) => others.map(([one]) => one))])
    return [...new Set(used.map((index) => tests[index]?.file ?? ""))]
  }
  let left = hunts
  while (left.length > 0) {
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
    // hunts are done in their order: the first that is left was at work
    left = left.filter((one) => !done.has(one.test) && isWanted(one)).map((one, at) => without(one, mutant, at > 0))
  }
  return useful
}
