/**
 * Finds the stretches of time in which nothing is at work: no model, no tool and no retry. A run that waits for a person is not at work, nor
 * are its turns, nor the calls that wait for such a run.
 *
 * @internal
 */
import { textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { endOf, type Gap, type Lane, type Mark, type Span, startOf, type Track } from "./Shapes.ts"

type Stretch = readonly [from: number, to: number]

/** The lanes and items of a scene. */
interface Drawn {
  readonly tracks: ReadonlyArray<Track>
  readonly lanes: ReadonlyArray<Lane>
  readonly lanesOf: Readonly<Record<number, ReadonlyArray<Lane>>>
  readonly items: ReadonlyArray<Span | Mark>
}

/** The gaps that last longer than half of the time in which items are at work, oldest first. */
export const find = (drawn: Drawn, events: ReadonlyArray<Recorded>): ReadonlyArray<Gap> => {
  const busy = stretches(drawn, events).toSorted((one, other) => one[0] - other[0])
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

/** The times of the items that are at work. */
const stretches = (drawn: Drawn, events: ReadonlyArray<Recorded>): ReadonlyArray<Stretch> => {
  const { items, lanes, lanesOf, tracks } = drawn
  const parents = new Set(tracks.map(({ parent }) => parent))
  const startedBy = startedRuns(items, events)
  const found: Array<Stretch> = []
  for (const item of items) {
    const layer = lanes[item.lane]?.layer
    const track = lanes[item.lane]?.track ?? -1
    if (item.shape === "mark") found.push([item.at, item.at])
    else if (item.part === "approval" || layer === "turn") continue
    // a run without turns and children works by itself
    else if (layer === "run") {
      if (lanesOf[track]?.length === 1 && !parents.has(track)) found.push([item.from, item.to])
    } else found.push(...around([startOf(item), endOf(item)], startedBy.get(callOf(events[item.subject])) ?? []))
  }
  return found
}

/** The times of the runs that calls have started, by the call, in order. */
const startedRuns = (
  items: ReadonlyArray<Span | Mark>,
  events: ReadonlyArray<Recorded>
): ReadonlyMap<string, ReadonlyArray<Stretch>> => {
  const found = new Map<string, Array<Stretch>>()
  for (const item of items) {
    if (item.shape !== "span" || item.part !== "run") continue
    const parent = events[item.events[0] ?? item.subject]?.parent
    if (parent?.callId === undefined) continue
    const key = JSON.stringify([parent.runId, parent.callId])
    const others = found.get(key)
    if (others === undefined) found.set(key, [[item.from, item.to]])
    else others.push([item.from, item.to])
  }
  return found
}

const callOf = (event: Recorded | undefined): string => JSON.stringify([event?.runId, textAt(event, "callId")])

/** The parts of a stretch outside of others. */
const around = ([from, to]: Stretch, others: ReadonlyArray<Stretch>): ReadonlyArray<Stretch> => {
  if (others.length === 0) return [[from, to]]
  const parts: Array<Stretch> = []
  let reached = from
  for (const [begin, end] of others.toSorted((one, other) => one[0] - other[0])) {
    if (begin > reached) parts.push([reached, Math.min(begin, to)])
    reached = Math.max(reached, end)
  }
  if (reached < to) parts.push([reached, to])
  return parts.filter(([begin, end]) => end >= begin)
}
