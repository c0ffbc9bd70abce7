/** The reader of a streamed run: the run goes on writing only while its reader follows. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Room from "../event/Room.ts"
import type { Sink } from "./Frame.ts"

/** How many events may wait for the reader before the run stops reading from its model. */
const most = 4096

/** The stream of a run's events. Deltas of replies wait for the reader; other events do not. */
export const reading = <E, R>(
  run: (sink: Sink) => Effect.Effect<unknown, E, R>
): Stream.Stream<AgentEvent.AgentEvent, E, R> =>
  Stream.suspend(() => {
    const room = Latch.makeUnsafe(true)
    let isOver = false
    const events = Stream.callback<AgentEvent.AgentEvent, E, R>((queue) => {
      const sink: Sink = (event) => {
        Queue.offerUnsafe(queue, event)
        if (!isOver && Queue.sizeUnsafe(queue) >= most) room.closeUnsafe()
      }
      const paced = Effect.updateService(run(sink), Room.Current, (outer) => Effect.andThen(outer, room.await))
      // after the run's end, detached fibers have no reader to wait for
      const open = Effect.sync(() => {
        isOver = true
        room.openUnsafe()
      })
      return Queue.into(Effect.ensuring(paced, open), queue)
    })
    return Stream.mapArray(events, (taken) => {
      room.openUnsafe()
      return taken
    })
  })
