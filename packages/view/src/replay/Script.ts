/**
 * A recorded run as a script: the replies of its models, the results and failures of its tools, the decisions of persons, and the rows that
 * its verdicts show. A script is plain data. `TestFile` writes a test of it.
 */
import type { Recorded } from "../recording/Recorded.ts"
import type { Recording } from "../recording/Recording.ts"
import type { Script } from "./parts.ts"
import { Refused } from "./refusing.ts"
import { read } from "./runs.ts"

/** A run that cannot be played again, and the event because of which. */
export interface NotReplayable {
  readonly _tag: "NotReplayable"
  /** The index of the event in the recording; -1 if the recording has no run. */
  readonly index: number
  /** The event; `undefined` if the recording has no run. */
  readonly event: Recorded | undefined
  /** The event and the reason, in one sentence. */
  readonly message: string
}

/**
 * Makes the script of a run without a parent. By default it is the last run that failed, or the last run if none failed. The answer is
 * `NotReplayable` if an event of the run cannot be played again.
 */
export const of = (recording: Recording, options: { readonly runId?: string } = {}): Script | NotReplayable => {
  try {
    return read(recording.events, options.runId)
  } catch (error) {
    if (error instanceof Refused) return notReplayable(recording, error)
    throw error
  }
}

/** Whether a script could be made. */
export const isScript = (made: Script | NotReplayable): made is Script => !("_tag" in made)

const notReplayable = ({ events }: Recording, { event, why }: Refused): NotReplayable => {
  // Mutant `false` survives: what is not there has no index either
  const index = event === undefined ? -1 : events.indexOf(event)
  const where =
    event === undefined ? "" : `event ${index + 1} (${event.type} of '${event.agent}', turn ${event.turn}): `
  return { _tag: "NotReplayable", index, event, message: `${where}${why}` }
}
