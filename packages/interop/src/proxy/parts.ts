/** The events of a run that has waited for decisions: those of its parts, one after the other. Each decision begins a new part. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Agent, type AgentEvent, type Snapshot, Usage } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import type * as DoorError from "@kintsugi/core/DoorError"
import { RunNotFoundError, UnfitRequestError } from "./errors.ts"

type Events = Stream.Stream<AgentEvent.AgentEvent, DoorError.CursorExpiredError>

/** A part of a run. Where it has no event with the cursor `after`, its events begin with `events-lost`. */
export type Part = (after?: string) => Events

/** The most parts that are remembered. */
const most = 16

export const added = (parts: ReadonlyArray<Part>, part: Part): ReadonlyArray<Part> => [...parts, part].slice(-most)

/** A part in this process. */
export const partOf =
  (run: Agent.Run<unknown, unknown>): Part =>
  (after) =>
    run.events({ onGap: "state", ...(after === undefined ? {} : { after }) })

/** What stands for the parts of a run that waits since another process was there: the state so far, and that the run waits. */
export const partBefore =
  (snapshot: Snapshot.Snapshot): Part =>
  (after) =>
    Stream.unwrap(
      Effect.map(Clock.currentTimeMillis, (at) => {
        const { agent, id = "", ledger, runId, transcript, turn } = snapshot
        const of = { runId, agent, turn, at }
        const usage = ledger.reduce((total, entry) => Usage.add(total, entry.usage), Usage.empty)
        const cursorOf = (number: number) => Cursor.of({ runId, epoch: id, number })
        const read = after === undefined ? undefined : Cursor.read(after)
        const events: ReadonlyArray<AgentEvent.AgentEvent> = [
          { ...of, type: "events-lost", transcript, cursor: cursorOf(1) },
          { ...of, type: "run-suspended", snapshot, usage, ledger, cursor: cursorOf(2) }
        ]
        return Stream.fromIterable(read?.epoch === id ? events.slice(read.number) : events)
      })
    )

/** The position of the first event. */
const beginningOf = (part: Part) =>
  Effect.map(Stream.runHead(part()), (first) =>
    Option.isSome(first) && first.value.cursor !== undefined ? Cursor.read(first.value.cursor) : undefined
  )

/** The events after a cursor. A cursor of another run is an unknown run. */
export const eventsOf = (
  run: string,
  parts: ReadonlyArray<Part>,
  after: string | undefined
): Effect.Effect<Events, DoorError.CursorExpiredError | RunNotFoundError | UnfitRequestError> =>
  Effect.gen(function* () {
    const from = (index: number, cursor?: string): Events =>
      parts
        .slice(index)
        .reduce<Events>((all, part, nth) => Stream.concat(all, nth === 0 ? part(cursor) : part()), Stream.empty)
    if (after === undefined) return from(0)
    const cursor = Cursor.read(after)
    if (cursor === undefined) {
      return yield* Effect.fail(new UnfitRequestError({ issues: [{ path: "after", expected: "Expected a cursor" }] }))
    }
    for (const [index, part] of parts.entries()) {
      const beginning = yield* beginningOf(part)
      if (beginning?.runId !== cursor.runId) return yield* Effect.fail(new RunNotFoundError({ run }))
      if (beginning.epoch === cursor.epoch) return from(index, after)
    }
    // events that are gone
    return from(0, after)
  })
