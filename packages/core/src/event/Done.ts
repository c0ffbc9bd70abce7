/** What tools have done in a run and in those below it, as far as they can undo it. */
import type * as Effect from "effect/Effect"

/** What a call has done. */
export interface Effected {
  readonly tool: string
  readonly callId: string
  /** The idempotency key of the call. */
  readonly key: string
  /** When it was done, in milliseconds: calls go on beside each other. */
  readonly at: number
  readonly undo: Effect.Effect<void, unknown>
  /** Begun to be undone, or undone: that happens once. */
  isUndone: boolean
}

/** One for each run. What is done in a run is done in the runs above it as well. */
export class Done {
  readonly #above: Done | undefined
  #effects: Array<Effected> | undefined

  constructor(above: Done | undefined) {
    this.#above = above
  }

  add(effected: Effected): void {
    this.#effects ??= []
    this.#effects.push(effected)
    this.#above?.add(effected)
  }

  /** The last one that is not undone yet; it counts as undone from here on. */
  take(): Effected | undefined {
    let last: Effected | undefined
    for (const one of this.#effects ?? []) if (!one.isUndone && (last === undefined || one.at >= last.at)) last = one
    if (last !== undefined) last.isUndone = true
    return last
  }
}
