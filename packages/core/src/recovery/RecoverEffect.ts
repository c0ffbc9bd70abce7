/** The driver on any effect: a used-up retry leaves the last error, and what needs a model has no meaning. */
import * as Effect from "effect/Effect"
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

export const recoverEffect = <R>(
  rows: Rows,
  self: Effect.Effect<unknown, unknown, R>,
  keeping?: Keeping
): Effect.Effect<unknown, unknown, R> =>
  Driver.drive(
    () => ({
      attempt: () => self,
      row: (error) => rowOf(rows, error),
      repairs: {},
      bounds: { ...unbounded, keep: keeping?.keep, onWait: keeping?.onWait },
      observe: () => Effect.void,
      end: {
        succeeded: Effect.succeed,
        answered: ({ value }) => Effect.succeed(value),
        left: ({ error }) => Effect.fail(error)
      }
    }),
    keeping?.from === undefined ? undefined : { position: keeping.from }
  )
