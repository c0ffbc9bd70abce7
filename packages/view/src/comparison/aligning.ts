/** Aligns two lists by a longest common subsequence, within bounds of time and memory. */

/** A pair of equal items, by their indices. */
export type Match = readonly [first: number, second: number]

/** The most cells of the table for one part of the lists. A table of so many takes some milliseconds. */
const most = 1_000_000

/** An alignment: the pairs of equal items in order, and whether they are as many as possible. */
export interface Alignment {
  readonly matches: ReadonlyArray<Match>
  readonly isExact: boolean
}

/**
 * Pairs equal items of both lists, in order. Equal beginnings and ends are paired first. If the rest is too long for a table, the items that
 * occur once in both lists are paired, and then the parts between them. A part that is still too long stays without pairs: then the
 * alignment is not exact. It takes time in proportion to the lists, and at most `most` steps for each part.
 */
export const align = (first: ReadonlyArray<string>, second: ReadonlyArray<string>): Alignment => {
  const matches: Array<Match> = []
  let isExact = true
  /** The parts that are left, the earliest part last. */
  const parts: Array<Part> = [{ from: [0, 0], to: [first.length, second.length], isSplit: false }]
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    let [[a, b], [endA, endB]] = [part.from, part.to]
    while (a < endA && b < endB && first[a] === second[b]) matches.push([a++, b++])
    let same = 0
    while (a < endA && b < endB && first[endA - 1] === second[endB - 1]) {
      endA--
      endB--
      same++
    }
    const ends = Array.from({ length: same }, (_, index): Match => [endA + index, endB + index])
    if ((endA - a) * (endB - b) <= most) matches.push(...tabulated(first, second, [a, b], [endA, endB]), ...ends)
    else {
      const anchors = part.isSplit ? [] : unique(first, second, [a, b], [endA, endB])
      if (anchors.length === 0) isExact = false
      if (anchors.length === 0) matches.push(...ends)
      else {
        isExact = false
        // each part begins with its anchor, and the last one has the equal ends
        const starts: ReadonlyArray<Match> = [[a, b], ...anchors]
        const pieces = starts.map((from, index): Part => ({ from, to: starts[index + 1] ?? part.to, isSplit: true }))
        parts.push(...pieces.toReversed())
      }
    }
  }
  return { matches, isExact }
}

interface Part {
  readonly from: Match
  readonly to: Match
  /** Whether it lies between items that occur once: then it has no more such items. */
  readonly isSplit: boolean
}

/** A longest common subsequence of parts of the lists, by a table of the lengths of all rests. */
const tabulated = (
  first: ReadonlyArray<string>,
  second: ReadonlyArray<string>,
  [fromA, fromB]: Match,
  [endA, endB]: Match
): ReadonlyArray<Match> => {
  const [rows, columns] = [endA - fromA, endB - fromB]
  const width = columns + 1
  const lengths = new Uint32Array((rows + 1) * width)
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const at = row * width + column
      lengths[at] =
        first[fromA + row] === second[fromB + column]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0)
    }
  }
  const found: Array<Match> = []
  let [row, column] = [0, 0]
  while (row < rows && column < columns) {
    if (first[fromA + row] === second[fromB + column]) found.push([fromA + row++, fromB + column++])
    else if ((lengths[(row + 1) * width + column] ?? 0) >= (lengths[row * width + column + 1] ?? 0)) row++
    else column++
  }
  return found
}

/** The items that occur once in each of both parts, as many of them as are in the same order in both. */
const unique = (
  first: ReadonlyArray<string>,
  second: ReadonlyArray<string>,
  [fromA, fromB]: Match,
  [endA, endB]: Match
): ReadonlyArray<Match> => {
  const onceA = once(first, fromA, endA)
  const onceB = once(second, fromB, endB)
  const pairs = [...onceA].flatMap(([item, a]): ReadonlyArray<Match> => {
    const b = onceB.get(item)
    return b === undefined ? [] : [[a, b]]
  })
  return increasing(pairs)
}

/** The items that occur once in a part, with their indices, in order. */
const once = (items: ReadonlyArray<string>, from: number, end: number): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  const repeated = new Set<string>()
  for (let index = from; index < end; index++) {
    const item = items[index] ?? ""
    if (found.has(item)) repeated.add(item)
    else found.set(item, index)
  }
  for (const item of repeated) found.delete(item)
  return found
}

/** A longest part of the pairs, which increase in the first list, that increases in the second list too. */
const increasing = (pairs: ReadonlyArray<Match>): ReadonlyArray<Match> => {
  /** For each length, the pair at which a sequence of that length ends earliest. */
  const ends: Array<number> = []
  const before: Array<number> = []
  for (const [index, [, b]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < b) low = middle + 1
      else high = middle
    }
    before[index] = ends[low - 1] ?? -1
    ends[low] = index
  }
  const found: Array<Match> = []
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index]
    if (pair !== undefined) found.push(pair)
  }
  return found.toReversed()
}
