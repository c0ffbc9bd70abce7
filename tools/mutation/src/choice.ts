/** Which tests are tried with a mutant, and in which order. */
import { posix } from "node:path"
import { mirrorOf, tablesOf } from "./areas.ts"
import { hashOf } from "./hash.ts"
import { keyOf, type Placed } from "./instrument.ts"
import type { Baseline } from "./protocol.ts"

/** Which share of the mutants of a file is drawn, and how many at least. */
export const SAMPLE = { oneIn: 4, least: 20 }

/** The mutants of each file that are drawn: the same ones as long as their code is the same. */
export const sampleOf = (placed: ReadonlyArray<Placed>): ReadonlyArray<Placed> =>
  [...Map.groupBy(placed, ({ mutant }) => mutant.file).values()].flatMap((own) => {
    const count = Math.max(SAMPLE.least, Math.ceil(own.length / SAMPLE.oneIn))
    const ranks = new Map(own.map((one) => [one, hashOf(keyOf(one.mutant))]))
    return own.toSorted((a, b) => ((ranks.get(a) ?? "") < (ranks.get(b) ?? "") ? -1 : 1)).slice(0, count)
  })

/** Test files that are loaded anew for each mutant that acts while modules are loaded, besides those of its folder. */
const WORLD_FILES = 10

/** Tests for which there is time, in their order; three in any case. */
export const within = <A extends { readonly test: Baseline }>(
  tests: ReadonlyArray<A>,
  cap: number
): ReadonlyArray<A> => {
  let sum = 0
  return tests.filter(({ test }, index) => {
    const fits = index < 3 || sum + test.ms <= cap
    if (fits) sum += test.ms
    return fits
  })
}

/** The quickest test of each file first, then the next quickest of each: what tells something new comes soon. */
export const byTurns = <A extends { readonly test: Baseline }>(tests: ReadonlyArray<A>): ReadonlyArray<A> => {
  const ranks = new Map<string, number>()
  return tests
    .toSorted((a, b) => a.test.ms - b.test.ms)
    .map((one) => {
      const rank = ranks.get(one.test.file) ?? 0
      ranks.set(one.test.file, rank + 1)
      return { one, rank }
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ one }) => one)
}

/** Which share of the mutants that a test comes by is in each source. */
export const sharesOf = (tests: ReadonlyArray<Baseline>, fileOf: ReadonlyMap<string, string>) =>
  new Map(
    tests.map(({ hits, key }) => {
      const counts = new Map<string, number>()
      const ids = Object.keys(hits)
      for (const id of ids) {
        const file = fileOf.get(id) ?? ""
        counts.set(file, (counts.get(file) ?? 0) + 1 / ids.length)
      }
      return [key, counts] as const
    })
  )

/** The tests that come by each mutant. */
export const coverage = (
  tests: ReadonlyArray<Baseline>
): ReadonlyMap<string, ReadonlyArray<{ test: Baseline; hits: number }>> => {
  const found = new Map<string, Array<{ test: Baseline; hits: number }>>()
  for (const test of tests.filter(({ passed }) => passed)) {
    for (const [mutant, hits] of Object.entries(test.hits)) {
      const covering = found.get(mutant)
      if (covering === undefined) found.set(mutant, [{ test, hits }])
      else covering.push({ test, hits })
    }
  }
  return found
}

/** How much is about a source, and about those of its folder. */
const nearness = (source: string, shares: ReadonlyMap<string, number>): number => {
  const ofFolder = [...shares].filter(([file]) => posix.dirname(file) === posix.dirname(source))
  return (shares.get(source) ?? 0) + ofFolder.reduce((sum, [, share]) => sum + share, 0)
}

/**
 * The test files that are most about a source: those of the folder that mirrors its own, and those of which the tests come by its
 * mutants and by few others.
 */
export const filesFor = (
  source: string,
  tests: ReadonlyArray<Baseline>,
  shares: ReadonlyMap<string, ReadonlyMap<string, number>>
): ReadonlyArray<string> => {
  const scores = new Map<string, { readonly share: number; readonly tests: number; readonly ms: number }>()
  for (const { file, key, ms } of tests) {
    const score = scores.get(file) ?? { share: 0, tests: 0, ms: 0 }
    const share = nearness(source, shares.get(key) ?? new Map())
    scores.set(file, { share: score.share + share, tests: score.tests + 1, ms: score.ms + ms })
  }
  const near = [...scores].filter(([, { share }]) => share > 0)
  const nearest = (near.length > 0 ? near : [...scores])
    .toSorted(([, a], [, b]) => b.share / b.tests - a.share / a.tests || a.ms - b.ms)
    .slice(0, WORLD_FILES)
    .map(([file]) => file)
  const mirrored = [...scores.keys()].filter((file) => posix.dirname(file) === mirrorOf(source))
  return [...new Set([...tablesOf(source).filter((file) => scores.has(file)), ...mirrored, ...nearest])]
}
