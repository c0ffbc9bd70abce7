/**
 * Finds the stretches of time in which no item is at work.
 *
 * @internal
 */
import { endOf, type Gap, type Mark, type Span, startOf } from "./Shapes.ts"

/** The gaps that last longer than half of the time in which items are at work, oldest first. */
export const find = (items: ReadonlyArray<Span | Mark>): ReadonlyArray<Gap> => {
  const busy = items.map((item) => [startOf(item), endOf(item)] as const).toSorted((one, other) => one[0] - other[0])
  const gaps: Array<Gap> = []
  let reached = busy[0]?.[0] ?? 0
  let worked = 0
  for (const [from, to] of busy) {
    if (from > reached) gaps.push({ from: reached, to: from })
    worked += Math.max(0, to - Math.max(from, reached))
    reached = Math.max(reached, to)
  }
  return gaps.filter((gap) => gap.to - gap.from > Math.max(worked / 2, 1))
}
