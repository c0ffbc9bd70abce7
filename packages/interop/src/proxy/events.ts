/** Reads the events of a run: at a cursor of its client, and for what its tools have begun. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { RunNotFoundError, UnfitRequestError } from "./errors.ts"

/** Reads the events of one run. */
type Read<E, R> = (options: {
  readonly after?: string
  readonly onGap: "state"
}) => Stream.Stream<AgentEvent.AgentEvent, E, R>

/**
 * The events after a cursor. If they are gone, one `events-lost` event with the state so far comes in their place. A cursor of another run is
 * an unknown run.
 */
export const eventsAt = <E, R>(
  run: string,
  after: string | undefined,
  read: Read<E, R>
): Effect.Effect<Stream.Stream<AgentEvent.AgentEvent, E, R>, E | RunNotFoundError | UnfitRequestError, R> =>
  Effect.gen(function* () {
    const all = read({ onGap: "state" })
    if (after === undefined) return all
    const cursor = Cursor.read(after)
    if (cursor === undefined) {
      return yield* Effect.fail(new UnfitRequestError({ issues: [{ path: "after", expected: "Expected a cursor" }] }))
    }
    const first = Option.getOrUndefined(yield* Stream.runHead(all))
    if (first?.runId !== cursor.runId) return yield* Effect.fail(new RunNotFoundError({ run }))
    return read({ after, onGap: "state" })
  })

/**
 * Whether an attempt of a tool may have begun in the run. A call is begun from its start on, unless it waits for a decision or was denied.
 * Events that are lost may have been of an attempt.
 */
export const hasBegun = (events: ReadonlyArray<AgentEvent.AgentEvent>): boolean => {
  const begun = new Set<string>()
  for (const event of events) {
    if (event.type === "events-lost" || event.type === "tool-failed" || event.type === "tool-end") return true
    if (!("callId" in event)) continue
    const call = JSON.stringify([event.runId, event.callId])
    if (event.type === "tool-start" || event.type === "approval-decided") begun.add(call)
    if (event.type === "approval-requested" || event.type === "tool-denied") begun.delete(call)
  }
  return begun.size > 0
}
