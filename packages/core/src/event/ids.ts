/** Identifiers of runs, snapshots and claims. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"

/**
 * About a hundred bits from `Random`: idempotency keys are derived from it, and must differ over all runs that ever were.
 *
 * @internal
 */
export const drawId = (fiber: Fiber.Fiber<unknown, unknown>): string => {
  const random = fiber.getRef(Random.Random)
  return base36(random.nextIntUnsafe()) + base36(random.nextIntUnsafe())
}

/** In two halves, because only small integers are quick to write down. */
const base36 = (draw: number): string => {
  const bits = Math.abs(draw)
  return Math.floor(bits / half).toString(36) + (bits % half).toString(36)
}

const half = 2 ** 27

/**
 * An identifier that no other run draws.
 *
 * @internal
 */
export const makeId: Effect.Effect<string> = Effect.withFiber((fiber) => Effect.succeed(drawId(fiber)))
