/** What became of all runs: what the clients have seen, beside what the model server and the log of the server know. */
import type { Ended } from "./clients.ts"
import type { Served } from "./modelServer.ts"

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

export interface Judged {
  readonly runs: number
  /** With the right answer. */
  readonly answered: number
  /** Runs that met a fault, and those of them that were answered all the same. */
  readonly faulted: number
  readonly recovered: number
  /** With a failure that has a name, which the log of the server knows. */
  readonly failed: number
  /** Everything else: one line for each run. */
  readonly lost: ReadonlyArray<string>
  /** What answered runs took beyond their model: those without a fault, and those with one. */
  readonly clean: Percentiles
  readonly mended: Percentiles
}

export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? Number.NaN

const percentiles = (values: ReadonlyArray<number>): Percentiles => ({
  p50: percentile(values, 0.5),
  p99: percentile(values, 0.99)
})

/** The runs that were started are 1 to `runs`. */
export const judge = (
  runs: number,
  ends: ReadonlyArray<Ended>,
  served: ReadonlyArray<Served>,
  log: ReadonlyArray<string>
): Judged => {
  const models = new Map(served.map((one) => [one.run, one]))
  const lost: Array<string> = []
  const [clean, mended]: [Array<number>, Array<number>] = [[], []]
  let failed = 0
  for (const { end, run, took } of ends) {
    const { faults = [], own = 0 } = models.get(run) ?? {}
    const met = faults.length === 0 ? "no fault" : faults.join(", ")
    if (end.type === "answer") (faults.length === 0 ? clean : mended).push(took - own)
    else if (end.type === "lost") lost.push(`run ${run}, ${met}: ${end.why}`)
    else if (end.type === "wrong") lost.push(`run ${run}, ${met}: it says '${end.said}'`)
    else if (faults.length === 0) lost.push(`run ${run}, ${met}: it has failed with ${end.code}`)
    else if (log.some((line) => line.includes(end.id) && line.includes(end.code))) failed++
    else lost.push(`run ${run}, ${met}: the log does not know that ${end.id} has failed with ${end.code}`)
  }
  const seen = new Set(ends.map(({ run }) => run))
  for (let run = 1; run <= runs; run++) if (!seen.has(run)) lost.push(`run ${run}: no client knows it`)
  const faulted = served.filter(({ faults }) => faults.length > 0).length
  const answered = clean.length + mended.length
  return {
    runs,
    answered,
    faulted,
    recovered: mended.length,
    failed,
    lost,
    clean: percentiles(clean),
    mended: percentiles(mended)
  }
}
