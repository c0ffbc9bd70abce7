/** The effects of tool calls that can be undone. */
import type * as Effect from "effect/Effect"

/** An effect of a tool call that can be undone. */
export interface Effected {
  readonly tool: string
  readonly callId: string
  /** The idempotency key of the call. */
  readonly key: string
  /** The time of the effect, in milliseconds: calls run concurrently. */
  readonly at: number
  readonly undo: Effect.Effect<void, unknown>
  /** Whether its compensation has begun: it runs once. */
  isUndone: boolean
}

/** The effects of one run. An effect of a run is added to its ancestors too. */
export class Done {
  readonly #parent: Done | undefined
  #effects: Array<Effected> | undefined

  constructor(parent: Done | undefined) {
    this.#parent = parent
  }

  add(effected: Effected): void {
    this.#effects ??= []
    this.#effects.push(effected)
    this.#parent?.add(effected)
  }

  /** The latest effect that is not undone yet; it counts as undone from now on. */
  take(): Effected | undefined {
    let last: Effected | undefined
    for (const one of this.#effects ?? []) if (!one.isUndone && (last === undefined || one.at >= last.at)) last = one
    if (last !== undefined) last.isUndone = true
    return last
  }
}
