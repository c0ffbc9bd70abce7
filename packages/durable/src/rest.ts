/** A model call that a crash has cut off: it goes on from the text in the log, if its run continues texts, or it replaces the text. */
import * as Effect from "effect/Effect"
import type * as Interception from "@kintsugi/core/Interception"
import type { Replay } from "./recording.ts"

type Of = Pick<Replay, "clock" | "log">

/** What the words of a model call begin with, and where the others come from. */
interface Rest {
  readonly before: string
  readonly self: Effect.Effect<unknown, unknown>
}

/** The work of a model call begins: it says what becomes of the text. */
export const restOf = (
  { clock, log }: Of,
  runId: string,
  { goOn }: Extract<Interception.InterceptedStep, { readonly type: "model call" }>,
  self: Effect.Effect<unknown, unknown>
): Rest => {
  const shown = log?.cutOffOf(runId)
  if (log === undefined || shown === undefined) return { before: "", self }
  const found = goOn?.(shown)
  log.settle(runId, clock.currentTimeMillisUnsafe(), found?.kept)
  return found === undefined ? { before: "", self } : { before: found.before, self: Effect.succeed(found.parts) }
}

/** The result of a model call was recorded, but the log lacks it: the text comes once more, in one part. */
export const replaced = ({ clock, log }: Of, runId: string): void => {
  log?.settle(runId, clock.currentTimeMillisUnsafe(), undefined)
}
