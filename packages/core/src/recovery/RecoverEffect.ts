/** Applies a table to any effect, as `Effect.retry` does. The number of attempts has no cap, and a used-up retry leaves the last error. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Driver from "./Driver.ts"
import { rowOf, unbounded } from "./Layer.ts"
import type { Rows } from "./Node.ts"
import type { Position, Seen } from "./Position.ts"

export interface Keeping {
  readonly onWait: (position: Position) => Effect.Effect<void>
  readonly from: Position | undefined
  /** Picks the fields of a failure that the position stores. */
  readonly keep: (error: unknown) => Seen
}

/** The number of failures that stay in memory. Attempts of an effect have no cap, so it may run for years. */
const remembered = 100

const atFirst = Schedule.CurrentMetadata.defaultValue()

export const recoverEffect = <R>(
  rows: Rows,
  self: Effect.Effect<unknown, unknown, R>,
  keeping?: Keeping
): Effect.Effect<unknown, unknown, R> =>
  Driver.drive(
    () => ({
      attempt: (_, progress) => Effect.provideService(self, Schedule.CurrentMetadata, progress?.metadata() ?? atFirst),
      row: (error) => rowOf(rows, error),
      repairs: {},
      bounds: { ...unbounded, maxAttempts: Infinity, remembered, keep: keeping?.keep, onWait: keeping?.onWait },
      observe: () => Effect.void,
      end: {
        succeeded: Effect.succeed,
        answered: ({ value }) => Effect.succeed(value),
        left: ({ error }) => Effect.fail(error)
      }
    }),
    keeping?.from === undefined ? undefined : { position: keeping.from }
  )
