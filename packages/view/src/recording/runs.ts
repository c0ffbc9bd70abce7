/**
 * The runs of a recording: the events of each, its end, and the run that has started it.
 *
 * @internal
 */
import { isTerminal, type Recorded } from "./Recorded.ts"

/** One run, with the indices of its events in the recording. */
export interface Run {
  readonly runId: string
  readonly agent: string
  readonly parent: Recorded["parent"]
  readonly indices: Array<number>
  readonly children: Array<Run>
  /** The index of the event that ended the run, or its last part; `undefined` while the run is at work. */
  end: number | undefined
}

/** The runs of these events, in the order in which they began. */
export const runsOf = (events: ReadonlyArray<Recorded>): ReadonlyArray<Run> => {
  const runs = new Map<string, Run>()
  for (const [index, event] of events.entries()) {
    const { agent, parent, runId } = event
    const run = runs.get(runId) ?? { runId, agent, parent, indices: [], children: [], end: undefined }
    runs.set(runId, run)
    run.indices.push(index)
    if (isTerminal(event)) run.end = index
    // a suspended run goes on with a second start
    else if (event.type === "run-start") run.end = undefined
  }
  for (const run of runs.values()) if (run.parent !== undefined) runs.get(run.parent.runId)?.children.push(run)
  return [...runs.values()]
}

/** Whether a run has no parent in its recording. */
export const isOutermost = ({ parent }: Run): boolean => parent === undefined
