/**
 * Counts the attempts that a user's function makes around a model call or a tool (`Model.around`, `Tool.around`). Such a function runs
 * inside all recovery tables.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { maxAttemptsPerCall } from "./bounds.ts"

/**
 * Wraps an error that the user's function must not handle. It is thrown as a defect, so it passes even a function that catches all
 * failures.
 */
class Passing {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** The call that a user's function surrounds. */
interface Called<A, E, R> {
  /** Makes one attempt. `count` is its number among all attempts of the call. */
  readonly attempt: (count: number) => Effect.Effect<A, E, R>
  /** Whether this failure must not reach the user's function. */
  readonly isPassing: (error: E) => boolean
  /** Runs when the call has used up its cap of attempts. The last failure then passes the user's function. */
  readonly capped?: () => void
}

/** The number of attempts that users' functions have added to one call, beyond the attempts of its tables. */
export interface Extra {
  made: number
}

/** The attempts of one user's function in one call. */
export class Attempts {
  readonly extra: Extra
  /** Whether the last attempt failed. */
  hasFailed = false
  #count = 0
  #isFirst = true
  #last: unknown
  #passing: Passing | undefined

  constructor(extra: Extra = { made: 0 }) {
    this.extra = extra
  }

  /** A table starts attempt number `count`. It is the first attempt that the user's function makes, so `extra` does not count it. */
  begin(count: number): void {
    this.#count = count - this.extra.made
    this.#isFirst = true
    this.hasFailed = false
  }

  /** Makes one attempt. The user's function gets this effect and may run it several times. */
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

  /** Runs the user's function. If an error was meant to pass it, that error is the result. */
  run<A, E, R>(surrounded: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    // if an error passed the user's function as a defect, the result is a failure with that error
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
