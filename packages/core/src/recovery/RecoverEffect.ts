/** The driver on any effect, as with `Effect.retry`: nothing caps its attempts, and a used-up retry leaves the last error. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Driver from "./Driver.ts"
import { rowOf, unbounded } from "./Layer.ts"
import type { Rows } from "./Node.ts"
import type { Position, Seen } from "./Position.ts"

export interface Keeping {
  readonly onWait: (position: Position) => Effect.Effect<void>
  readonly from: Position | undefined
  /** What is kept of a failure. */
  readonly keep: (error: unknown) => Seen
}

/** Nothing caps the attempts of an effect, and an effect may be run again for years. */
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
