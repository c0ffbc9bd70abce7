/** Why a model stopped. */
import * as Schema from "effect/Schema"

/**
 * Why a model stopped. `filtered` and `length` cut a reply off: its calls are not run. `paused` is no end: the provider is at
 * work on its own side, and goes on when it gets the reply back.
 */
export type FinishReason = typeof FinishReason.Type

export const FinishReason = Schema.Literals(["stop", "tool-calls", "length", "filtered", "paused", "other"])
