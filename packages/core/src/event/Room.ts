/** The wait of a run for slow readers, before it reads more of a reply. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** Ends once the readers of all streamed runs around this effect have room for more. */
export const Current = Context.Reference<Effect.Effect<unknown>>("@kintsugi/core/Room", {
  defaultValue: () => Effect.void
})

/** Waits for the readers of this fiber's run. */
export const wait = (fiber: Fiber.Fiber<unknown, unknown>): Effect.Effect<unknown> => fiber.getRef(Current)
