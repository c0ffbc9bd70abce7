/**
 * The scene of a recording: lanes, spans and marks, in milliseconds and rows. The scene depends on the events alone, and each event
 * belongs to one item. The layout converts it to pixels.
 */
import * as Packing from "./packing.ts"
import type { Problem } from "../recording/Problem.ts"
import type { Recording } from "../recording/Recording.ts"
import * as Gaps from "./gaps.ts"
import type { Gap, Lane, Mark, Span, Track } from "./Shapes.ts"
import * as Outcome from "../recording/Outcome.ts"
import * as Totals from "../recording/Totals.ts"
import * as Transcript from "./transcript.ts"
import { Weaver } from "./weaver.ts"

/** The lanes and items of a picture. It also has the sums, the transcript and the problems of the recording. */
export interface Scene {
  /** The time of the first event and, in `to`, of the last, in milliseconds since the epoch; 0 if there are no events. */
  readonly from: number
  readonly to: number
  readonly tracks: ReadonlyArray<Track>
  readonly lanes: ReadonlyArray<Lane>
  /** The lanes of each track, by the id of the track. */
  readonly lanesOf: Readonly<Record<number, ReadonlyArray<Lane>>>
  /** The spans and marks, sorted by lane, row and time. */
  readonly items: ReadonlyArray<Span | Mark>
  /** The index of the item of each event. */
  readonly itemOf: ReadonlyArray<number>
  /** Long stretches of time in which nothing is at work, such as a wait for a person. They are drawn short. */
  readonly gaps: ReadonlyArray<Gap>
  readonly totals: Totals.Totals
  /** How the run ended; of several runs, the first that failed. Absent without events. */
  readonly outcome?: Outcome.Outcome
  readonly transcript: ReadonlyArray<Transcript.Entry>
  readonly problems: ReadonlyArray<Problem>
}

/** Makes the scene of a recording. It never throws: a broken recording gives a scene of the events that could be read. */
export const make = (recording: Recording): Scene => {
  const weaver = new Weaver()
  recording.events.forEach((event, index) => weaver.take(event, index))
  const { end, start, strands, tracks } = weaver.close()
  const packed = Packing.pack(tracks, strands, recording.events.length)
  const outcome = Outcome.outcomeOf(recording)
  let transcript: ReadonlyArray<Transcript.Entry> | undefined
  return {
    from: start,
    to: end,
    tracks,
    ...packed,
    gaps: Gaps.find({ tracks, ...packed }, recording.events),
    totals: Totals.make(recording.events),
    ...(outcome === undefined ? {} : { outcome }),
    // a drawing has no transcript, and a page reads it when it shows the conversation
    get transcript() {
      return (transcript ??= Transcript.make(recording.events))
    },
    problems: recording.problems
  }
}
