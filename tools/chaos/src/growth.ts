/** Whether the processes grow: memory, descriptors and spans, over each lifetime that is long enough. */
import { trendOf } from "../../soak/src/heap.ts"
import type { Lifetime, Sample } from "./lifetime.ts"

/** A process has loaded and compiled what it needs after so many milliseconds. */
const warm = 30_000
/** Fewer samples after that, one in 10 seconds, say nothing: the load of a few minutes is not that of the next few. */
const enough = 60

/**
 * Descriptors that a process may open once there is work, and keep at rest: ten connections to the database, two to and from each of the
 * other two processes, and some of clients, which end with their keep-alive.
 */
const pools = 10 + 8 + 4

/** How much of each a process may have more in the last third of its life than in the first, besides a tenth. */
const slack = { heap: 4 * 2 ** 20, descriptors: pools, spans: 20 } as const

type Held = keyof typeof slack

const names: Readonly<Record<Held, string>> = { heap: "bytes of heap", descriptors: "descriptors", spans: "open spans" }

export interface Growth {
  readonly process: string
  readonly held: Held
  readonly first: number
  readonly last: number
  readonly isFlat: boolean
}

export const growthOf = ({
  begun,
  process,
  samples
}: Pick<Lifetime, "begun" | "process" | "samples">): ReadonlyArray<Growth> => {
  const counted = samples.filter(({ at }) => at >= begun + warm)
  if (counted.length < enough) return []
  return (Object.keys(slack) as ReadonlyArray<Held>).map((held) => {
    const { first, isFlat, last } = trendOf(counted.map((sample) => sample[held]))
    return { process, held, first, last, isFlat: isFlat || last - first <= slack[held] }
  })
}

/** At rest, a process has no more spans than one that has just begun, and no more descriptors than those of its pools. */
export const leftAtRest = (
  process: string,
  begun: Pick<Sample, "spans" | "descriptors">,
  rest: Pick<Sample, "spans" | "descriptors">
): ReadonlyArray<string> =>
  (["descriptors", "spans"] as const)
    .filter((held) => rest[held] > begun[held] + slack[held])
    .map((held) => `${process} has ${rest[held]} ${names[held]} at rest, and had ${begun[held]} at its start`)

export const growing = (all: ReadonlyArray<Growth>): ReadonlyArray<string> =>
  all
    .filter(({ isFlat }) => !isFlat)
    .map(({ first, held, last, process }) => `${process} has grown from ${first} to ${last} ${names[held]}`)
