/** Finds the name that was probably meant. */

/** The nearest name: it differs only in case and separators, or in at most two letters of a longer name. `undefined` if no name is near. */
export const nearest = (name: string, candidates: ReadonlyArray<string>): string | undefined => {
  if (name.length > longest) return undefined
  const bare = bareOf(name)
  const near = candidates
    .filter((other) => other.length <= longest)
    .map((other) => ({ other, distance: distance(bare, bareOf(other)) }))
    .filter(({ distance, other }) => distance <= Math.min(2, Math.floor(other.length / 3)))
    .toSorted((one, two) => one.distance - two.distance)
  return near[0]?.other
}

/** Whether one of two names may be a slip of the other: they differ in case and separators alone, or in at most two letters. */
export const isNear = (one: string, two: string): boolean => {
  const [a, b] = [bareOf(one), bareOf(two)]
  return Math.max(a.length, b.length) <= longest && Math.abs(a.length - b.length) <= 2 && distance(a, b) <= 2
}

const longest = 64

const bareOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/** The edit distance of two names (Levenshtein). */
const distance = (one: string, two: string): number => {
  let row = Array.from({ length: two.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= two.length; j++) {
      const swapped = (row[j - 1] ?? 0) + (one[i - 1] === two[j - 1] ? 0 : 1)
      next.push(Math.min(swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[two.length] ?? 0
}
