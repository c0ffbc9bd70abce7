/** Reads the events of a run at a cursor of its client. */
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
