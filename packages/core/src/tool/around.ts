/** Plain Effect combinators around the attempts of a tool, nearer to its `run` than every table. */
import * as Effect from "effect/Effect"
import * as Returned from "../data/Returned.ts"
import type { OutcomeUnknownError } from "../errors/ToolError.ts"

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
