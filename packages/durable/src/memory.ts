/** Keeps the log and the streamed text of each run that is at work in this process, over all of its replays. */
import type { WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { EventLog } from "./eventLog.ts"
import type { Replay } from "./recording.ts"
import { Written } from "./words.ts"

/** The option `events` of a workflow: whether events are stored, and how many characters of them. */
export type Events = boolean | { readonly maxCharacters?: number }

export class Memory {
  readonly #events: Events
  readonly #runs = new Map<string, Pick<Replay, "log" | "words">>()

  constructor(events: Events) {
    this.#events = events
  }

  /**
   * `activation` is the scope in which an engine of a cluster keeps the state of the run in this process. When it closes, the run is
   * forgotten: it may go on in another process, and a later replay here reads the log like that process.
   */
  of(executionId: string, activation: Scope.Scope | undefined): Effect.Effect<Pick<Replay, "log" | "words">> {
    return Effect.suspend(() => {
      const before = this.#runs.get(executionId)
      if (before !== undefined) return Effect.succeed(before)
      const events = this.#events
      // Mutant `false` for `events === true` survives: `true` has no number of characters either
      const log = events === false ? undefined : new EventLog(events === true ? undefined : events.maxCharacters)
      const made = { log, words: new Written() }
      this.#runs.set(executionId, made)
      if (activation === undefined) return Effect.succeed(made)
      const forgetting = Effect.sync(() => {
        if (this.#runs.get(executionId) === made) this.#runs.delete(executionId)
      })
      return Effect.as(Scope.addFinalizer(activation, forgetting), made)
    })
  }

  /** Forgets a run at the end of a replay, unless another replay in this process may follow. */
  behind<A, E, R>(instance: WorkflowInstance["Service"], self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.ensuring(
      self,
      Effect.sync(() => {
        if (!instance.suspended || instance.abandoned) this.#runs.delete(instance.executionId)
      })
    )
  }
}
