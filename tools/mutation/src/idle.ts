/**
 * Which tests find out nothing. A test finds something out when, of the mutants that it comes by, it finds out one that fewer than two
 * other tests find out: without the test, that mistake could come in beside at most two. What is written once is one test: the rows of
 * a table, and what is run whole and streamed.
 */
import type { File } from "../../../scripts/files.ts"
import type { Hunt, Measured } from "./protocol.ts"

/** What is known of the tests of one file. */
export interface TestsResult {
  readonly file: string
  /** What the test file was then. */
  readonly hash: string
  readonly commit: string
  /** Which share of the mutants had been tried by then, from 0 to 1. */
  readonly share: number
  readonly tests: number
  /** The titles of those that found out nothing, and have no reason. */
  readonly idle: ReadonlyArray<string>
  /** The titles of those that found out nothing, and have a reason. */
  readonly explained: ReadonlyArray<string>
  /** The titles of those that come by no mutant at all: they are about types, pages, or what is loaded once. */
  readonly apart: ReadonlyArray<string>
}

/** Each mutant that a test of a site that is sought comes by, with all tests that come by it: what few sites come by first. */
export const huntsOf = (
  tests: ReadonlyArray<Measured>,
  isDrawn: (id: number) => boolean,
  useful: ReadonlySet<string>
): ReadonlyArray<Hunt> => {
  const comers = new Map<number, Array<readonly [test: number, hits: number]>>()
  const quickest = [...tests.entries()].filter(([, { passed }]) => passed).toSorted(([, a], [, b]) => a.ms - b.ms)
  for (const [index, { counts, ids }] of quickest) {
    for (const [at, id] of ids.entries()) {
      if (!isDrawn(id)) continue
      comers.set(id, comers.get(id) ?? [])
      comers.get(id)?.push([index, counts[at] ?? 0])
    }
  }
  return [...comers]
    .map(([id, own]) => ({ id, own, sites: new Set(own.map(([index]) => tests[index]?.site ?? "")) }))
    .filter(({ sites }) => [...sites].some((site) => !useful.has(site)))
    .toSorted((a, b) => a.sites.size - b.sites.size)
    .map(({ id, own }) => ({ mutant: String(id), comers: own }))
}

/** A test that is written once: what it is called, by its first row, where it is, and whether it comes by a mutant. */
export interface Written {
  readonly file: string
  readonly site: string
  readonly line: number
  readonly title: string
  readonly isApart: boolean
}

/** Whether a comment above the line of a test says why the test finds out nothing. */
const isExplained = (text: string, line: number): boolean => {
  const above = text.split("\n").slice(0, line - 1)
  const comment = above.slice(above.findLastIndex((one) => !/^\s*\/\//.test(one)) + 1)
  return comment.some((one) => /^\s*\/\/ Finds out nothing of its own: ./.test(one))
}

/** Tests as they are written, those that fail left out. */
export const writtenOf = (tests: ReadonlyArray<Measured>): ReadonlyArray<Written> =>
  [
    ...Map.groupBy(
      tests.filter(({ passed }) => passed),
      ({ site }) => site
    )
  ].flatMap(([site, rows]) =>
    rows.slice(0, 1).map(({ file, line, title }) => ({
      file,
      site,
      line,
      title,
      isApart: rows.every(({ ids }) => ids.length === 0)
    }))
  )

/** What came of the tests of some files. */
export const testsResults = (
  hashes: ReadonlyMap<string, string>,
  written: ReadonlyArray<Written>,
  files: ReadonlyArray<File>,
  useful: ReadonlySet<string>,
  { commit, share }: Pick<TestsResult, "commit" | "share">
): ReadonlyArray<TestsResult> =>
  files.map(({ path, text }) => {
    const own = written.filter(({ file }) => file === path)
    const titles = (some: typeof own) => some.map(({ title }) => title)
    const found = own.filter(({ isApart, site }) => !isApart && !useful.has(site))
    return {
      file: path,
      hash: hashes.get(path) ?? "",
      commit,
      share,
      tests: own.length,
      idle: titles(found.filter(({ line }) => !isExplained(text, line))),
      explained: titles(found.filter(({ line }) => isExplained(text, line))),
      apart: titles(own.filter(({ isApart }) => isApart))
    }
  })
