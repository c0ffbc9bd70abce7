/**
 * Timing: all subjects of a comparison take turns, in laps, in one process or each in its own. A ratio is the median of the ratios of
 * single laps, so that other work of the machine slows both sides down alike.
 */

import { printCauses, wanted } from "./causes.ts"

/**
 * Something to be timed. `portion` does a fixed amount of work, and throws unless all of it was done. One that has it done by another
 * process says what it took there.
 */
export interface Subject {
  readonly name: string
  readonly portion: () => Promise<Sample | void>
}

/** What one portion took, in milliseconds: on the clock, and of all processor cores together. */
export interface Sample {
  readonly wall: number
  readonly cpu: number
}

export type Samples = ReadonlyMap<string, ReadonlyArray<Sample>>

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((x, y) => x - y)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** What a portion takes in this process, unless it says what it took in another. */
export const timed = async (portion: Subject["portion"]): Promise<Sample> => {
  const cpu = process.cpuUsage()
  const start = performance.now()
  const elsewhere = await portion()
  if (elsewhere !== undefined) return elsewhere
  const wall = performance.now() - start
  const { system, user } = process.cpuUsage(cpu)
  return { wall, cpu: (user + system) / 1000 }
}

/** Times all subjects in turns; each lap begins with another of them. The first laps are for the compiler and do not count. */
export const interleaved = async (
  subjects: ReadonlyArray<Subject>,
  { laps, warmups = 3 }: { readonly laps: number; readonly warmups?: number }
): Promise<Samples> => {
  const samples = new Map<string, Array<Sample>>(subjects.map(({ name }) => [name, []]))
  const examined = wanted(subjects)
  if (examined !== undefined) {
    for (let warmup = 0; warmup < warmups; warmup++) await examined.portion()
    await printCauses(examined.name, async () => {
      for (let lap = 0; lap < laps; lap++) await examined.portion()
    })
    process.exit()
  }
  for (let lap = -warmups; lap < laps; lap++) {
    const first = (lap + warmups) % subjects.length
    for (const { name, portion } of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      globalThis.gc?.()
      const sample = await timed(portion)
      if (lap >= 0) samples.get(name)?.push(sample)
    }
  }
  return samples
}

export type Measure = keyof Sample

const of = (samples: Samples, name: string): ReadonlyArray<Sample> => {
  const found = samples.get(name)
  if (found === undefined) throw new TypeError(`nothing named '${name}' was timed`)
  return found
}

/** The median of what a portion took, in milliseconds. */
export const typical = (samples: Samples, name: string, measure: Measure = "wall"): number =>
  median(of(samples, name).map((sample) => sample[measure]))

/** How often longer one took than another, lap by lap: the median. */
export const ratio = (samples: Samples, name: string, to: string, measure: Measure = "wall"): number => {
  const others = of(samples, to)
  return median(of(samples, name).map((sample, lap) => sample[measure] / (others[lap]?.[measure] ?? Number.NaN)))
}

/** The share of laps, as a half width around the median, in which a ratio lies: what noise makes of it. */
export const spread = (samples: Samples, name: string, to: string, measure: Measure = "wall"): number => {
  const others = of(samples, to)
  const ratios = of(samples, name).map((sample, lap) => sample[measure] / (others[lap]?.[measure] ?? Number.NaN))
  const middle = median(ratios)
  return median(ratios.map((one) => Math.abs(one - middle))) / middle
}

/** By how many milliseconds one portion took longer than another, lap by lap. */
export const differences = (
  samples: Samples,
  name: string,
  to: string,
  measure: Measure = "wall"
): ReadonlyArray<number> => {
  const others = of(samples, to)
  return of(samples, name).map((sample, lap) => sample[measure] - (others[lap]?.[measure] ?? Number.NaN))
}

/**
 * A confidence interval of the median, of at least 95 %: the two values of equal rank from below and from above outside of which the median
 * lies with a probability of at most 5 %, for each distribution. It takes at least 6 values; of 15 it is the 4th and the 12th.
 */
export const interval = (values: ReadonlyArray<number>): readonly [low: number, high: number] => {
  const sorted = values.toSorted((x, y) => x - y)
  const n = sorted.length
  /** The probability that exactly `rank` of the values lie below the median. */
  let exactly = 0.5 ** n
  let outside = 0
  let rank = 0
  while (2 * (outside + exactly) <= 0.05) {
    outside += exactly
    exactly *= (n - rank) / (rank + 1)
    rank++
  }
  if (rank === 0) return [Number.NaN, Number.NaN]
  return [sorted[rank - 1] ?? Number.NaN, sorted[n - rank] ?? Number.NaN]
}

/** Throws unless the work was done. */
export const assertEqual = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`)
}
