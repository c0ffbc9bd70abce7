/** The usage of replies, by which the ledger of a run says which replies it has booked. */

/** The usage of the n-th reply of a run, from 0: no sum of some replies of a run is that of others. */
export const usageOf = (nth: number): number => 2 ** nth

/** More replies of a run would have sums that are no exact numbers. */
export const mostReplies = 50

/** The replies in a sum of usages, each once; `undefined` if the sum is none of such. */
export const repliesIn = (usage: number): ReadonlyArray<number> | undefined => {
  if (!Number.isSafeInteger(usage) || usage < 0) return undefined
  return Array.from({ length: mostReplies }, (_, nth) => nth).filter(
    (nth) => Math.floor(usage / usageOf(nth)) % 2 === 1
  )
}
