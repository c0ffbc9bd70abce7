/**
 * Reads the events once, and makes strands of them. A strand is a sequence of spans and marks in one row of the drawing.
 *
 * @internal
 */
import type { Recorded } from "../recording/Recorded.ts"
import { RunWeaver } from "./runWeaver.ts"
import type { Track } from "./Shapes.ts"
import type { Strand } from "./strand.ts"

/** The tracks and strands that were made of the events, with the first and the last time. */
export interface Woven {
  readonly start: number
  readonly end: number
  readonly tracks: ReadonlyArray<Track>
  readonly strands: ReadonlyArray<Strand>
}

export class Weaver {
  readonly #runs = new Map<string, RunWeaver>()
  readonly #tracks = new Map<string, Track>()
  readonly #strands: Array<Strand> = []
  #start = Infinity
  #end = -Infinity

  take(event: Recorded, index: number): void {
    this.#start = Math.min(this.#start, event.at)
    this.#end = Math.max(this.#end, event.at)
    const run = this.#runs.get(event.runId) ?? this.#run(event)
    run.take(event, index)
  }

  close(): Woven {
    for (const run of this.#runs.values()) run.close(this.#end, "unfinished")
    for (const strand of this.#strands) strand.clamp(this.#end)
    const isEmpty = this.#strands.length === 0
    return {
      start: isEmpty ? 0 : this.#start,
      end: isEmpty ? 0 : this.#end,
      tracks: ordered([...this.#tracks.values()]),
      strands: this.#strands
    }
  }

  #run({ agent, parent, runId }: Recorded): RunWeaver {
    const parentRun = parent === undefined ? undefined : this.#runs.get(parent.runId)
    const isFixer = parent?.callId !== undefined && parentRun?.isFixing(parent.callId) === true
    const kind = parent === undefined ? "run" : isFixer ? "fixer" : "agent"
    const track = this.#track(kind, agent, parentRun?.track)
    const run = new RunWeaver(track, agent, (strand) => this.#strands.push(strand))
    this.#runs.set(runId, run)
    return run
  }

  #track(kind: Track["kind"], agent: string, parent: number | undefined): number {
    const key = JSON.stringify([kind, agent, parent])
    const existing = this.#tracks.get(key)
    if (existing !== undefined) return existing.id
    const id = this.#tracks.size
    const depth = parent === undefined ? 0 : (this.#byId[parent]?.depth ?? 0) + 1
    const track = { id, kind, agent, depth, ...(parent === undefined ? {} : { parent }) }
    this.#tracks.set(key, track)
    this.#byId.push(track)
    return id
  }

  readonly #byId: Array<Track> = []
}

/** Sorts the tracks: each is followed by its children, in the order of their beginning. */
const ordered = (tracks: ReadonlyArray<Track>): ReadonlyArray<Track> => {
  const children = new Map<number | undefined, Array<Track>>()
  for (const track of tracks) {
    const list = children.get(track.parent)
    if (list === undefined) children.set(track.parent, [track])
    else list.push(track)
  }
  const found: Array<Track> = []
  // a loop and no recursion, because runs may be nested deeper than the call stack
  const waiting = [...(children.get(undefined) ?? [])].toReversed()
  for (let track = waiting.pop(); track !== undefined; track = waiting.pop()) {
    found.push(track)
    // pushed one by one, because a run may have more children than a function call takes arguments
    for (const next of (children.get(track.id) ?? []).toReversed()) waiting.push(next)
  }
  return found
}
