/** Wraps the attempts of a tool in Effect combinators. They see the failures of `run` before every table does. */
import * as Effect from "effect/Effect"
import * as Returned from "../data/Returned.ts"
import type { OutcomeUnknownError } from "../errors/ToolError.ts"

type Attempt = Effect.Effect<unknown, unknown>

/** A function around the attempts of a tool. It may run the attempt any number of times. */
export type Around = (attempt: Attempt, refusal: Refusal) => Attempt

/** Returns why an unsafe tool does not run again; `undefined` if a lookup has found that it took no effect. */
export type Refusal = () => OutcomeUnknownError | undefined

interface Options {
  readonly tool: string
  /** The function of an earlier `Tool.around`. It wraps the attempt first. */
  readonly before: Around | undefined
  /** Whether each attempt after the first is refused, unless a lookup has cleared the one before. */
  readonly needsConsent: boolean
}

/** Makes the wrapper of a tool's attempts from the user's function. */
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
