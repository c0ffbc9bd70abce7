/** A warning about old prices. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Price } from "../budget/Price.ts"

const day = 86_400_000
const most = 90 * day

/** Whether this process has warned. */
let isWarned = false

/** Logs once per process that a price was read more than 90 days ago. */
export const warnOfAge = (prices: ReadonlyArray<Price | "reported" | undefined>): Effect.Effect<void> => {
  if (isWarned) return Effect.void
  const dated = prices.flatMap((price) => (typeof price === "object" && price.asOf !== undefined ? [price.asOf] : []))
  if (dated.length === 0) return Effect.void
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const old = dated.find((asOf) => now - Date.parse(asOf) > most)
    if (old === undefined || isWarned) return Effect.void
    isWarned = true
    return Effect.logWarning(
      `A price of a model is of ${old}, more than 90 days ago: update @kintsugi/providers, or give your own in the budget's prices`
    )
  })
}
