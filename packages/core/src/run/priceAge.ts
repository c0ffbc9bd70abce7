/** A warning about old prices. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Price } from "../budget/Price.ts"

const day = 86_400_000
const most = 90 * day

/** Whether this process has warned. */
export const Warned = Context.Reference<{ isSaid: boolean }>("@kintsugi/core/PriceAge/Warned", {
  defaultValue: () => ({ isSaid: false })
})

/** Logs once per process that a price was read more than 90 days ago. */
export const warnOfAge = (prices: ReadonlyArray<Price | "reported" | undefined>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const warned = fiber.getRef(Warned)
    const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const old = warned.isSaid ? undefined : prices.map(dateOf).find((date) => now - Date.parse(date) > most)
    if (old === undefined) return Effect.void
    warned.isSaid = true
    return Effect.logWarning(
      `A price of a model is of ${old}, more than 90 days ago: update @kintsugi/providers, or give your own in the budget's prices`
    )
  })

/** The day on which a price was read. A price without one is of no day, and so never old. */
// Mutant `"Stryker was here!"` survives: this is no day either
const dateOf = (price: Price | "reported" | undefined): string => (typeof price === "object" ? (price.asOf ?? "") : "")
