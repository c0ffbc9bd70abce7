/** Why a model stopped. */
import * as Schema from "effect/Schema"

/**
 * Why a model stopped. `filtered` and `length` mean that the reply was cut off: its calls are not run. `paused` means that the provider has
 * not finished the work on its own side: it continues when it gets the reply back.
 *
 * @hidden
 */
export type FinishReason = typeof FinishReason.Type

/** @hidden */
export const FinishReason = Schema.Literals(["stop", "tool-calls", "length", "filtered", "paused", "other"])
