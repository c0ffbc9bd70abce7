/**
 * A model call that a crash has cut off. If its run continues texts, the call goes on from the text in the log; otherwise the call writes a
 * new text, which replaces the old one.
 */
import * as Effect from "effect/Effect"
import type * as Interception from "@kintsugi/core/Interception"
import type { Replay } from "./recording.ts"

type Of = Pick<Replay, "clock" | "log">

/** `before`: the text with which the reply begins. `self`: the effect that gives the stream of the other parts. */
interface Rest {
  readonly before: string
  readonly self: Effect.Effect<unknown, unknown>
}

/** Called when the work of a model call begins. It writes to the log whether the text that was cut off is kept or discarded. */
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

/**
 * Discards the text in the log that a crash cut off. The result of the model call was recorded, so its whole text comes again, in one part.
 */
export const replaced = ({ clock, log }: Of, runId: string): void => {
  log?.settle(runId, clock.currentTimeMillisUnsafe(), undefined)
}
