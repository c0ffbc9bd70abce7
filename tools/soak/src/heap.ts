/** Whether a heap stays flat. */

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

export interface Trend {
  /** The medians of the first and of the last third, in the unit of the samples. */
  readonly first: number
  readonly last: number
  readonly isFlat: boolean
}

/** How much more the last third may hold than the first. */
const mostGrowth = 1.1

/**
 * Compares the last third with the first by their medians, so that a single odd sample decides nothing. Fewer than 3 samples say
 * nothing, and are flat.
 */
export const trendOf = (samples: ReadonlyArray<number>): Trend => {
  const third = Math.floor(samples.length / 3)
  if (third === 0) return { first: Number.NaN, last: Number.NaN, isFlat: true }
  const first = median(samples.slice(0, third))
  const last = median(samples.slice(-third))
  return { first, last, isFlat: last <= first * mostGrowth }
}

/** In a word, for people. */
export const verdictOf = ({ first, isFlat }: Trend): string => {
  if (Number.isNaN(first)) return "too few samples to say whether the heap is flat"
  return isFlat ? "the heap is flat" : "the heap is NOT flat"
}
