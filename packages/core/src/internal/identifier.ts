/** Identifiers that nobody else draws. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** About a hundred bits from `Random`: idempotency keys are made of it, and must differ over all runs that ever were. */
export const make: Effect.Effect<string> = Effect.zipWith(
  Random.nextInt,
  Random.nextInt,
  (first, second) => base36(first) + base36(second)
)

/** In two halves, because only small integers are quick to write down. */
const base36 = (draw: number): string => {
  const bits = Math.abs(draw)
  return Math.floor(bits / half).toString(36) + (bits % half).toString(36)
}

const half = 2 ** 27
