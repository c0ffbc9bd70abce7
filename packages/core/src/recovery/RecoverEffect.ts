/** The driver on any effect: a used-up retry leaves the last error, and what needs a model has no meaning. */
import * as Effect from "effect/Effect"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Driver from "./Driver.ts"
import type { Position, Seen } from "./Position.ts"
import type { Rows } from "./Node.ts"

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
): Effect.Effect<unknown, unknown, R> => {
  const subject = subjectOf(rows, self, keeping)
  return keeping?.from === undefined ? Driver.drive(subject) : Driver.goOn(subject, { position: keeping.from })
}

const subjectOf = <R>(
  rows: Rows,
  self: Effect.Effect<unknown, unknown, R>,
  keeping: Keeping | undefined
): Driver.Subject<unknown, unknown, unknown, R> => ({
  attempt: () => self,
  row: (error) => rowOf(rows, error),
  about: () => nothing,
  left: () => undefined,
  deadline: () => Infinity,
  admits: () => true,
  fix: () => Effect.die(new TypeError("Recovery.onError: fix has no meaning on a plain effect")),
  observe: () => Effect.void,
  onWait: keeping?.onWait,
  keep: keeping?.keep,
  succeed: Effect.succeed,
  end: (ending): Effect.Effect<unknown, unknown> => {
    switch (ending.type) {
      case "answered":
        return Effect.succeed(ending.value)
      case "exhausted":
      case "rethrown":
      case "failed":
        return Effect.fail(ending.error)
      case "told":
      case "escalated":
      case "raised":
        return Effect.die(new TypeError(`Recovery.onError: a verdict that ends as ${ending.type} has no meaning here`))
    }
  }
})

/** Outside of tools there is nothing to say of earlier calls. */
export const nothing = { failingBatches: 0, failuresInARow: 0 } as const

/** The row of a single table: the exact tag, else `orElse`. */
export const rowOf = (rows: Rows, error: unknown): Driver.Row | undefined => {
  const tag = ErrorCause.tagOf(error)
  const key = rows.has(tag) ? tag : "orElse"
  const verdict = rows.get(key)
  return verdict === undefined ? undefined : { key, verdict, seen: error }
}
