/**
 * What ended runs: the failures of outermost runs at their deepest cause, grouped by error, place and reason, with an example each.
 *
 * @internal
 */
import * as Outcome from "../recording/Outcome.ts"
import type { Recorded } from "../recording/Recorded.ts"

// Private types are aliases and not interfaces: TypeScript writes an alias out in the declarations of a program, and cannot name a private
// interface there.

/** The runs that an error has ended, with its place and its reason. */
export type Ended = {
  readonly tag: string
  /** The agent whose run failed first, and the tool whose call failed. */
  readonly agent: string
  readonly tool?: string
  /** Why no row has stopped the error: `no-row`, `gave-up`, `decided`, `limit`, `defect` or `interrupted`. */
  readonly why: Outcome.Fatal["why"]
  readonly runs: number
  /** The latest of these runs. */
  readonly example: Example
}

/** A run that has ended so. */
type Example = {
  readonly runId: string
  /** When the run ended, in milliseconds since the epoch. */
  readonly at: number
  /** The file of its events, if `of` was given one. */
  readonly file?: string
  /** Why no row has stopped the error, as a clause. */
  readonly reason: string
}

/** What ended the outermost runs of one recording, one entry for each run. */
export const endedOf = (events: ReadonlyArray<Recorded>, file: string | undefined): ReadonlyArray<Ended> => {
  // Mutant `["Stryker was here"]` survives: no run has this id
  const nested = new Set(events.flatMap(({ parent, runId }) => (parent === undefined ? [] : [runId])))
  return Outcome.outcomesOf({ events }).flatMap(({ fatal, runId, to }): ReadonlyArray<Ended> => {
    if (fatal === undefined || nested.has(runId)) return []
    const { agent, reason, tag, tool, why } = fatal
    const example = { runId, at: to, ...(file === undefined ? {} : { file }), reason }
    return [{ tag, agent, ...(tool === undefined ? {} : { tool }), why, runs: 1, example }]
  })
}

export const endedKey = ({ agent, tag, tool, why }: Ended): string => JSON.stringify([tag, agent, tool, why])

export const addEnded = (a: Ended, b: Ended): Ended => ({
  ...a,
  runs: a.runs + b.runs,
  example: isLater(b.example, a.example) ? b.example : a.example
})

/** Whether one example is later than another. At the same instant the ids decide, so that sums do not depend on their order. */
const isLater = (one: Example, other: Example): boolean =>
  // Mutants `one.at >= other.at`, `idOf(one) >= idOf(other)` survive: the instants differ, and of equal examples any is the same
  one.at === other.at ? idOf(one) > idOf(other) : one.at > other.at

const idOf = (example: Example): string => JSON.stringify(example)
