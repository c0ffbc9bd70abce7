/**
 * Which tests find out nothing. A test finds something out when, of the mutants that it comes by, it finds out one that fewer than two
 * other tests find out: without the test, that mistake could come in beside at most two.
 */
import type { Survey } from "./baseline.ts"
import { run } from "./processes.ts"
import type { Hunt, Line, Measured, Try } from "./protocol.ts"

/** Tests that are hunted for in one process. */
const HUNTS = 150

/** How many mutants are tried for a test, and how many tests may come by one of them besides. */
export interface Bounds {
  readonly tries: number
  readonly others: number
}

/** What is known of the tests of one file. */
export interface TestsResult {
  readonly file: string
  /** What the test file was then. */
  readonly hash: string
  readonly commit: string
  readonly tests: number
  /** The titles of those that found out nothing. */
  readonly idle: ReadonlyArray<string>
  /** The titles of those that come by no mutant at all: they are about types, pages, or what is loaded once. */
  readonly apart: ReadonlyArray<string>
}

/** The mutants of each test that may be found out by few others, the rarest first. */
export const huntsOf = (
  tests: ReadonlyArray<Measured>,
  isWanted: (test: Measured) => boolean,
  { others, tries }: Bounds
): ReadonlyArray<Hunt> => {
  const comers = new Map<number, Array<number>>()
  for (const [index, { ids, passed }] of tests.entries()) {
    if (!passed) continue
    for (const id of ids) {
      const before = comers.get(id)
      if (before === undefined) comers.set(id, [index])
      else before.push(index)
    }
  }
  const hitsOf = (index: number, id: number): number => {
    const test = tests[index]
    return test?.counts[test.ids.indexOf(id)] ?? 0
  }
  const rarity = (id: number) => comers.get(id)?.length ?? 0
  return tests.flatMap((test, index): ReadonlyArray<Hunt> => {
    if (!test.passed || !isWanted(test) || test.ids.length === 0) return []
    const rarest = test.ids.filter((id) => rarity(id) <= others + 1).toSorted((a, b) => rarity(a) - rarity(b))
    // mutants beside each other are alike: those of a rank are taken from all over the sources
    const step = Math.max(1, Math.floor(rarest.length / (2 * tries)))
    const spread = rarest.filter((_, at) => at < tries / 2 || at % step === 0).slice(0, tries)
    const chosen = spread.map((id): Try => {
      const rest = (comers.get(id) ?? []).filter((other) => other !== index)
      const quickest = rest.toSorted((a, b) => (tests[a]?.ms ?? 0) - (tests[b]?.ms ?? 0))
      return {
        mutant: String(id),
        hits: hitsOf(index, id),
        others: quickest.map((other) => [other, hitsOf(other, id)])
      }
    })
    return [{ test: index, tries: chosen }]
  })
}

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

/** What came of the tests of some files. */
export const testsResults = (
  { hashes, tests }: Survey,
  files: ReadonlyArray<string>,
  useful: ReadonlySet<number>,
  commit: string
): ReadonlyArray<TestsResult> =>
  files.map((path) => {
    const own = tests.map((test, index) => ({ test, index })).filter(({ test }) => test.file === path && test.passed)
    const titles = (some: typeof own) => some.map(({ test }) => test.title)
    return {
      file: path,
      hash: hashes.get(path) ?? "",
      commit,
      tests: own.length,
      idle: titles(own.filter(({ index, test }) => test.ids.length > 0 && !useful.has(index))),
      apart: titles(own.filter(({ test }) => test.ids.length === 0))
    }
  })
