/** The arithmetic of the report. */

/** A share and where it may really be. */
export interface Share {
  readonly of: number
  readonly count: number
  /** `count / of`; nothing is 0. */
  readonly rate: number
  /** The interval of Wilson (1927) at 95 %: from 0 to 1 where nothing was tried. */
  readonly low: number
  readonly high: number
}

/** The 97.5th percentile of the normal distribution. */
const z = 1.959963984540054

/**
 * `count` of `of`, with Wilson's interval: unlike the usual one it is no point where all or nothing succeeded, and never beyond 0
 * or 1.
 */
export const share = (count: number, of: number): Share => {
  if (of === 0) return { of, count, rate: 0, low: 0, high: 1 }
  const rate = count / of
  const scale = 1 + z ** 2 / of
  const middle = (rate + z ** 2 / (2 * of)) / scale
  const half = (z * Math.sqrt((rate * (1 - rate)) / of + z ** 2 / (4 * of ** 2))) / scale
  // at both ends the exact bound is that of the rate, which rounding may miss
  return {
    of,
    count,
    rate,
    low: count === 0 ? 0 : Math.max(0, middle - half),
    high: count === of ? 1 : Math.min(1, middle + half)
  }
}

/** The mean; `undefined` of nothing. */
export const mean = (values: ReadonlyArray<number>): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
