/** Plain Effect combinators around the attempts of a tool, nearer to its `run` than every table. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Returned from "../data/Returned.ts"
import type { OutcomeUnknownError } from "../errors/ToolError.ts"
import { maxAttemptsPerCall } from "../recovery/Layer.ts"

type Attempt = Effect.Effect<unknown, unknown>

/** What a tool has around its attempts: it runs the attempt as often as it likes. */
export type Around = (attempt: Attempt, refusal: Refusal) => Attempt

/** Why an unsafe tool does not run again; nothing where it was looked up that it took no effect. */
export type Refusal = () => OutcomeUnknownError | undefined

interface Options {
  readonly tool: string
  /** What stands around the attempts already: it is nearer to them. */
  readonly before: Around | undefined
  /** Whether each run of an attempt after the first needs consent. */
  readonly needsConsent: boolean
}

/** The user's function around the attempts. */
export const make =
  (f: (attempt: Attempt) => Attempt, { before, needsConsent, tool }: Options): Around =>
  (attempt, refusal) =>
    Effect.suspend(() => {
      const nearer = before === undefined ? attempt : before(attempt, refusal)
      return Returned.effect(f(needsConsent ? once(nearer, refusal) : nearer), "The function of Tool.around for", tool)
    })

const once = (attempt: Attempt, refusal: Refusal): Attempt => {
  let hasRun = false
  return Effect.suspend(() => {
    const refused = hasRun ? refusal() : undefined
    hasRun = true
    return refused === undefined ? attempt : Effect.fail(refused)
  })
}

/** What no function around a tool may take as a failure of it: it goes past the function, whatever that makes of it. */
class Passing {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** What a call does for the function around its attempts. */
export interface Calling {
  /** One attempt, with its number among all of the call. */
  readonly attempt: (count: number) => Attempt
  readonly refusal: Refusal
  /** What is no failure of the tool. */
  readonly isPassing: (error: unknown) => boolean
  /** Hears that the call may make no attempt more. */
  readonly capped: () => void
}

/** The attempts that the function around a tool makes within one call. */
export class Tries {
  readonly #around: Around
  /** How many it has made beyond those that the tables have made. */
  extra = 0
  /** Whether its last attempt has failed. */
  hasFailed = false
  #count = 0
  #isFirst = true
  #last: unknown
  #passing: Passing | undefined

  constructor(around: Around) {
    this.#around = around
  }

  /** The tables make this attempt, as they count: the first that the function makes is that one. */
  begin(count: number): void {
    this.#count = count - this.extra
    this.#isFirst = true
    this.hasFailed = false
  }

  /** All that the function does. */
  run(calling: Calling): Attempt {
    const passed = (otherwise: Attempt) => (this.#passing === undefined ? otherwise : Effect.fail(this.#passing.error))
    return Effect.matchCauseEffect(
      this.#around(
        Effect.suspend(() => this.#each(calling)),
        calling.refusal
      ),
      {
        onSuccess: (value) => passed(Effect.succeed(value)),
        onFailure: (cause) => (Cause.hasInterrupts(cause) ? Effect.failCause(cause) : passed(Effect.failCause(cause)))
      }
    )
  }

  #each({ attempt, capped, isPassing }: Calling): Attempt {
    if (this.#passing !== undefined) return Effect.die(this.#passing)
    if (!this.#isFirst) {
      if (this.#count + this.extra >= maxAttemptsPerCall) {
        capped()
        return this.#pass(this.#last)
      }
      this.extra++
    }
    this.#isFirst = false
    this.hasFailed = false
    return Effect.matchEffect(attempt(this.#count + this.extra), {
      onSuccess: Effect.succeed,
      onFailure: (error) => {
        if (isPassing(error)) return this.#pass(error)
        this.hasFailed = true
        this.#last = error
        return Effect.fail(error)
      }
    })
  }

  #pass(error: unknown): Effect.Effect<never> {
    this.#passing = new Passing(error)
    return Effect.die(this.#passing)
  }
}
