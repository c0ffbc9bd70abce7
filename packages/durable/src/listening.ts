/** The events that listeners of a replayed run get. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { AgentEvent } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import type * as RunContext from "@kintsugi/core/RunContext"
import { isLeft } from "./losing.ts"
import { isDelta } from "./marks.ts"
import type { Replay } from "./recording.ts"
import { present } from "./time.ts"

/**
 * A replay emits all events of the run once more, up to the point that the run had reached. Listeners get the events that happen for
 * the first time, and the terminal event of the outermost run in any case. They may have missed the events between the last recorded
 * result and the death of a process.
 */
export const listening = (replay: Replay) => {
  const replayed = new WeakSet<AgentEvent.AgentEvent>()
  /** Marks events that are emitted once more. An observer gets them before any listener. */
  const watch: NonNullable<RunContext.RunContext["emit"]> = (event) => {
    if (event.type === "run-start" && event.parent !== undefined) replay.parents.set(event.runId, event.parent.runId)
    const isEnd = event.parent === undefined && AgentEvent.isTerminal(event)
    // the run is suspended, not at its end
    const isAside = !replay.stopping.isSo && (replay.instance.suspended || replay.instance.abandoned)
    if (isAside) replay.stopping.aside.push(event)
    // nor does it end where it goes on elsewhere
    const isNew = isAside || isLeft(replay) ? false : (replay.log?.add(event) ?? true)
    // words that were heard before come once more to a replay that goes on with their model call
    const isHeard = !isNew && isDelta(event)
    if (isAside || isHeard || (!isEnd && !present(replay.lines).isLive)) replayed.add(event)
  }
  /** Replaces the handler of a listener. */
  const handle = (event: AgentEvent.AgentEvent, handling: Effect.Effect<unknown, unknown>) =>
    replayed.has(event)
      ? Effect.void
      : handling.pipe(
          Effect.provideService(Clock.Clock, replay.clock),
          Effect.provideService(Random.Random, replay.random),
          Effect.provideService(Interception.Current, undefined)
        )
  return { handle, watch }
}
