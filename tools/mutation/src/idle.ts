/**
 * Which tests find out nothing. A test finds something out when, of the mutants that it comes by, it finds out one that fewer than two
 * other tests find out: without the test, that mistake could come in beside at most two.
 */
import type { Hunt, Measured, Survey, Try } from "./protocol.ts"

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
  isWanted: (test: Measured, index: number) => boolean,
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
    if (!test.passed || !isWanted(test, index) || test.ids.length === 0) return []
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

/** How many tests at least are hunted for together, with what is kept of them. */
const PART = 100

/** The files in parts that have enough tests each. */
export const inParts = (
  files: ReadonlyArray<string>,
  testsIn: (file: string) => number
): ReadonlyArray<ReadonlyArray<string>> => {
  const parts: Array<Array<string>> = []
  let room = 0
  for (const file of files) {
    if (room <= 0) {
      parts.push([])
      room = PART
    }
    parts.at(-1)?.push(file)
    room -= testsIn(file)
  }
  return parts
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
