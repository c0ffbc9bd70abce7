/** The attempts that a function of the user makes around what is called, nearer to it than every table. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { maxAttemptsPerCall } from "./bounds.ts"

/** Wraps an error that the function must not handle: it goes past the function, even if the function catches all failures. */
class Passing {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** What is called for the function. */
interface Called<A, E, R> {
  /** One attempt, with its number among all of the call. */
  readonly attempt: (count: number) => Effect.Effect<A, E, R>
  /** Whether a failure goes past the function. */
  readonly isPassing: (error: E) => boolean
  /** Called if the call may make no further attempt: the last failure goes past the function. */
  readonly capped?: () => void
}

/** How many attempts functions have made in one call, beyond those that its tables have made. */
export interface Extra {
  made: number
}

/** Those of one function in one call. */
export class Attempts {
  readonly extra: Extra
  /** Whether its last attempt has failed. */
  hasFailed = false
  #count = 0
  #isFirst = true
  #last: unknown
  #passing: Passing | undefined

  constructor(extra: Extra = { made: 0 }) {
    this.extra = extra
  }

  /** The tables begin this attempt, by their own count: it is the first attempt of the function. */
  begin(count: number): void {
    this.#count = count - this.extra.made
    this.#isFirst = true
    this.hasFailed = false
  }

  /** An attempt, as the function sees it. */
  each<A, E, R>({ attempt, capped, isPassing }: Called<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      if (this.#passing !== undefined) return Effect.die(this.#passing)
      if (!this.#isFirst) {
        if (this.#count + this.extra.made >= maxAttemptsPerCall) {
          capped?.()
          return this.#pass(this.#last)
        }
        this.extra.made++
      }
      this.#isFirst = false
      this.hasFailed = false
      return Effect.matchEffect(attempt(this.#count + this.extra.made), {
        onSuccess: Effect.succeed,
        onFailure: (error) => {
          if (isPassing(error)) return this.#pass(error)
          this.hasFailed = true
          this.#last = error
          return Effect.fail(error)
        }
      })
    })
  }

  /** All that the function does. */
  run<A, E, R>(surrounded: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    // what has passed is a failure of an attempt
    const passed = (otherwise: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      this.#passing === undefined ? otherwise : Effect.fail(this.#passing.error as E)
    return Effect.matchCauseEffect(surrounded, {
      onSuccess: (value) => passed(Effect.succeed(value)),
      onFailure: (cause) => (Cause.hasInterrupts(cause) ? Effect.failCause(cause) : passed(Effect.failCause(cause)))
    })
  }

  #pass(error: unknown): Effect.Effect<never> {
    this.#passing = new Passing(error)
    return Effect.die(this.#passing)
  }
}
