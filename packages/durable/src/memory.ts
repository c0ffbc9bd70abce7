/** What a process remembers of its runs while they are at work there, over all of their replays. */
import type { WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import { EventLog } from "./eventLog.ts"
import type { Replay } from "./recording.ts"
import { Written } from "./words.ts"

/** Whether events are stored, and how much of them. */
export type Events = boolean | { readonly maxCharacters?: number }

export class Memory {
  readonly #events: Events
  readonly #runs = new Map<string, Pick<Replay, "log" | "words">>()

  constructor(events: Events) {
    this.#events = events
  }

  of(executionId: string): Pick<Replay, "log" | "words"> {
    const before = this.#runs.get(executionId)
    if (before !== undefined) return before
    const events = this.#events
    const log = events === false ? undefined : new EventLog(events === true ? undefined : events.maxCharacters)
    const made = { log, words: new Written() }
    this.#runs.set(executionId, made)
    return made
  }

  /** Forgets a run behind a replay, unless a replay in this process goes on with it. */
  behind<A, E, R>(instance: WorkflowInstance["Service"], self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.ensuring(
      self,
      Effect.sync(() => {
        if (!instance.suspended || instance.abandoned) this.#runs.delete(instance.executionId)
      })
    )
  }
}
