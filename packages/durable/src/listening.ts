/** Decides which events of a replayed run its listeners get. */
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
 * Makes the observer of a run's events (`watch`), and the handler around its listeners (`handle`). A replay emits all events of the run
 * again, up to the point that the run had reached. Listeners get only the events that happen for the first time, and the terminal event of
 * the outermost run in any case. They may miss the events between the last recorded result and the death of a process.
 */
export const listening = (replay: Replay) => {
  const replayed = new WeakSet<AgentEvent.AgentEvent>()
  /** Marks the events that a replay emits again. An observer gets each event before any listener. */
  const watch: NonNullable<RunContext.RunContext["emit"]> = (event) => {
    if (event.type === "run-start" && event.parent !== undefined) replay.parents.set(event.runId, event.parent.runId)
    const isEnd = event.parent === undefined && AgentEvent.isTerminal(event)
    // the engine has suspended the run, so this event is not its end
    const isAside = !replay.stopping.isSo && (replay.instance.suspended || replay.instance.abandoned)
    if (isAside) replay.stopping.aside.push(event)
    // a run that goes on in another process has not ended here either
    const isNew = isAside || isLeft(replay) ? false : (replay.log?.add(event) ?? true)
    // a replay that joins a model call gets its earlier deltas again, which listeners have heard before
    const isHeard = !isNew && isDelta(event)
    if (isAside || isHeard || (!isEnd && !present(replay.lines).isLive)) replayed.add(event)
  }
  /** Runs the handler of a listener, unless a replay emits the event again. */
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
