/** The other half of the property: the memory that a function holds at most is linear in the length of its input. */
import { GCProfiler } from "node:v8"
import type { Growing } from "./entry.ts"
import type { Bounds, Refusal } from "./growth.ts"

const MiB = 1024 * 1024

/** What holds less at the end passes, beside what an idle process holds. */
const enough = 64 * MiB

/** The most that is held at any collection of garbage during a run, over what is held before it. */
const held = async ({ prepare }: Growing, size: number): Promise<number> => {
  const action = prepare(size)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const profiler = new GCProfiler()
  profiler.start()
  await action()
  const after = process.memoryUsage().heapUsed
  const seen = profiler.stop().statistics.map(({ beforeGC }) => beforeGC.heapStatistics.usedHeapSize)
  return Math.max(after, ...seen) - before
}

/** Why a function is refused on a family; `undefined` where its memory is linear. */
export const memoryRefusalOf = async (growing: Growing, { from, times, to }: Bounds): Promise<Refusal> => {
  const large = await held(growing, to)
  if (large <= enough) return undefined
  const small = await held(growing, from)
  return large <= times * small
    ? undefined
    : `${Math.round(large / MiB)} MiB at ${to / 1024} KiB, ${(small / MiB).toFixed(1)} MiB at ${from / 1024} KiB`
}
