/** Identifiers that nobody else draws. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"

/** About a hundred bits from `Random`: idempotency keys are made of it, and must differ over all runs that ever were. */
export const draw = (fiber: Fiber.Fiber<unknown, unknown>): string => {
  const random = fiber.getRef(Random.Random)
  return base36(random.nextIntUnsafe()) + base36(random.nextIntUnsafe())
}

export const make: Effect.Effect<string> = Effect.withFiber((fiber) => Effect.succeed(draw(fiber)))

/** In two halves, because only small integers are quick to write down. */
const base36 = (draw: number): string => {
  const bits = Math.abs(draw)
  return Math.floor(bits / half).toString(36) + (bits % half).toString(36)
}

const half = 2 ** 27
