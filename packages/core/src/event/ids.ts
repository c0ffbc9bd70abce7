/** Identifiers of runs, snapshots and claims. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"

/**
 * Draws about 100 bits from `Random`. Idempotency keys are derived from the id, so it must be unique over all runs ever.
 *
 * @internal
 */
export const drawId = (fiber: Fiber.Fiber<unknown, unknown>): string => {
  const random = fiber.getRef(Random.Random)
  return base36(random.nextIntUnsafe()) + base36(random.nextIntUnsafe())
}

/** Formats a number in two halves, because only small integers format quickly. */
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
