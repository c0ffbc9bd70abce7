/** What those hear who listen to a run that is replayed. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { AgentEvent } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import type * as RunContext from "@kintsugi/core/RunContext"
import type { Replay } from "./recording.ts"
import { present } from "./time.ts"

/**
 * A run that is replayed tells all of it again, up to where it had come. Listeners hear what happens for the first time; of the
 * outermost run they hear the end in any case. What happened between the last result that was recorded and the death of a process
 * they have heard there, or never.
 */
export const listening = (replay: Replay) => {
  const known = new WeakSet<AgentEvent.AgentEvent>()
  /** Marks what is told again. Whoever watches hears of it before any listener. */
  const watch: RunContext.Observer = (event) => {
    const isEnd = event.parent === undefined && AgentEvent.isTerminal(event)
    // it is not over, it is put aside
    const isAside = replay.instance.suspended || replay.instance.abandoned
    if (isAside || (!isEnd && !present(replay.lines).isLive)) known.add(event)
  }
  /** In the place of what a listener does about an event. */
  const hook = (event: AgentEvent.AgentEvent, handling: Effect.Effect<unknown, unknown>) =>
    known.has(event)
      ? Effect.void
      : handling.pipe(
          Effect.provideService(Clock.Clock, replay.clock),
          Effect.provideService(Random.Random, replay.random),
          Effect.provideService(Interception.Current, undefined)
        )
  return { watch, hook }
}
