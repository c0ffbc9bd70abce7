/**
 * Which tests find out nothing. A test finds something out when, of the mutants that it comes by, it finds out one that fewer than two
 * other tests find out: without the test, that mistake could come in beside at most two. What is written once is one test: the rows of
 * a table, and what is run whole and streamed.
 */
import type { Hunt, Measured, Try } from "./protocol.ts"

/** How many mutants are tried for a test, and how many other tests may come by one of them. */
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
  const sites = new Map<number, Set<string>>()
  const rows = new Map<string, number>()
  for (const [index, { ids, passed, site }] of tests.entries()) {
    if (!passed) continue
    rows.set(site, (rows.get(site) ?? 0) + 1)
    for (const id of ids) {
      comers.set(id, comers.get(id) ?? [])
      comers.get(id)?.push(index)
      sites.set(id, sites.get(id) ?? new Set())
      sites.get(id)?.add(site)
    }
  }
  const hitsOf = (index: number, id: number): number => {
    const test = tests[index]
    return test?.counts[test.ids.indexOf(id)] ?? 0
  }
  const rarity = (id: number) => sites.get(id)?.size ?? 0
  return tests.flatMap((test, index): ReadonlyArray<Hunt> => {
    if (!test.passed || !isWanted(test) || test.ids.length === 0) return []
    const rarest = test.ids.filter((id) => rarity(id) <= others + 1).toSorted((a, b) => rarity(a) - rarity(b))
    // the rows of a table come by much the same
    const most = Math.ceil(tries / (rows.get(test.site) ?? 1))
    // mutants beside each other are alike: those of a rank are taken from all over the sources
    const step = Math.max(1, Math.floor(rarest.length / (2 * most)))
    const spread = rarest.filter((_, at) => at < most / 2 || at % step === 0).slice(0, most)
    const chosen = spread.map((id): Try => {
      const rest = (comers.get(id) ?? []).filter((other) => tests[other]?.site !== test.site)
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

/** A test that is written once: what it is called, by its first row, and whether it comes by a mutant. */
export interface Written {
  readonly file: string
  readonly site: string
  readonly title: string
  readonly isApart: boolean
}

/** Tests as they are written, those that fail left out. */
export const writtenOf = (tests: ReadonlyArray<Measured>): ReadonlyArray<Written> =>
  [
    ...Map.groupBy(
      tests.filter(({ passed }) => passed),
      ({ site }) => site
    )
  ].flatMap(([site, rows]) =>
    rows
      .slice(0, 1)
      .map(({ file, title }) => ({ file, site, title, isApart: rows.every(({ ids }) => ids.length === 0) }))
  )

/** What came of the tests of some files. */
export const testsResults = (
  hashes: ReadonlyMap<string, string>,
  written: ReadonlyArray<Written>,
  files: ReadonlyArray<string>,
  useful: ReadonlySet<string>,
  commit: string
): ReadonlyArray<TestsResult> =>
  files.map((path) => {
    const own = written.filter(({ file }) => file === path)
    const titles = (some: typeof own) => some.map(({ title }) => title)
    return {
      file: path,
      hash: hashes.get(path) ?? "",
      commit,
      tests: own.length,
      idle: titles(own.filter(({ isApart, site }) => !isApart && !useful.has(site))),
      apart: titles(own.filter(({ isApart }) => isApart))
    }
  })
