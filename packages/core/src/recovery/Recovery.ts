/**
 * Recovery policies as values. A *verdict* says what to do about a failure; a *table* has one *row* per error tag, each
 * row a verdict; a *ladder* goes from one verdict, its *rung*, to the next when one gives up. Every layer uses the same
 * words: tools, model calls, and any effect.
 */
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type * as Types from "effect/Types"
import type { Explanation } from "./Explanation.ts"
import { explain as explaining } from "./Explain.ts"
import type { Options as ExplainOptions } from "./explainRows.ts"
import { type Position, seenOf } from "./Position.ts"
import { recoverEffect } from "./RecoverEffect.ts"
import { checked, type Of } from "./admitted.ts"
import type { AnyRowOf, Check } from "./misfit.ts"
import type * as Internal from "./Node.ts"
import type { Residue, RowsOf, TagOf } from "./TableTypes.ts"
import { rowNode } from "./ladder.ts"
import { isVerdict } from "./making.ts"
import type { AnswerOf, AnyRow, ServicesOf } from "./verdictTypes.ts"

export type { Merge, Residue } from "./TableTypes.ts"
export { ask } from "./person.ts"
export { ladder, when } from "./ladder.ts"
/** @internal */
export { isVerdict, nodeOf } from "./making.ts"
export * from "./Verdict.ts"
export * as presets from "./Presets.ts"

/** A table for any effect with tagged errors: one row per tag, and `orElse` for the rest. */
type Table<E> = {
  readonly [K in TagOf<E> | "orElse"]?: AnyRowOf<K extends "orElse" ? E : Types.ExtractTag<E, K>, unknown>
}

/** Refuses keys that match no failure, and rows that a plain effect does not allow. */
type CheckRows<T, E> = Check<T, TagOf<E> | "orElse", "exhausted" | "rethrow", "repeats">

/**
 * Applies a table to an effect. A row handles the errors with its tag, and `orElse` handles the rest. An error without a row leaves
 * unchanged. After used-up retries, the last error leaves unchanged. Verdicts that talk to a model (`tell`, `escalate`, `fix`, `raise`) do
 * not compile here.
 *
 * @example
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { Data, Effect, Schedule } from "effect"
 *
 * class Busy extends Data.TaggedError("Busy")<{}> {}
 * class Gone extends Data.TaggedError("Gone")<{}> {}
 * const page: Effect.Effect<string, Busy | Gone> = Effect.fail(new Gone())
 *
 * const guarded = page.pipe(
 *   Recovery.onError({
 *     Busy: Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 3 })),
 *     Gone: () => Effect.succeed("moved")
 *   })
 * )
 * const program = Effect.asVoid(guarded)
 * //    ^? Effect<void, Busy>
 * ```
 */
export const onError: {
  <E, const T extends Table<E>>(
    table: T & CheckRows<T, E>
  ): <A, R>(
    self: Effect.Effect<A, E, R>
  ) => Effect.Effect<A | AnswerOf<RowsOf<T>>, Residue<E, T>, R | ServicesOf<RowsOf<T>>>
  <A, E, R, const T extends Table<E>>(
    self: Effect.Effect<A, E, R>,
    table: T & CheckRows<T, E>
  ): Effect.Effect<A | AnswerOf<RowsOf<T>>, Residue<E, T>, R | ServicesOf<RowsOf<T>>>
} = dual(
  2,
  // the driver has no type parameters; this cast gives the type that the table implies
  (self: Effect.Effect<unknown, unknown, unknown>, table: object) =>
    recoverEffect(rowsOf(table, "a plain effect"), self) as never
)

export { Position } from "./Position.ts"

/** How a policy is stored before a wait, and continued after a restart. */
interface Keeping<R> {
  /** Gets the position of the policy before each wait. A program stores it, and later passes it as `from`. */
  readonly onWait: (position: Position) => Effect.Effect<void, never, R>
  /** The stored position from which the policy continues: with the rest of the wait, then the next attempt. */
  readonly from?: Position
}

/**
 * Applies a table to an effect that survives a restart. Counts, ladders and schedules continue from a stored position. `onWait` gets the
 * position before each wait, for a store; `from` continues from it. A schedule repeats its steps at the same instants, and reads tag,
 * message and advice of the earlier failures; `when` sees no earlier failures. If the table has changed meanwhile, the new table decides,
 * and a new schedule starts as if it had seen those failures.
 */
export const onErrorFrom =
  <E, const T extends Table<E>, R2 = never>(table: T & CheckRows<T, E>, keeping: Keeping<R2>) =>
  <A, R>(
    self: Effect.Effect<A, E, R>
  ): Effect.Effect<A | AnswerOf<RowsOf<T>>, Residue<E, T>, R | R2 | ServicesOf<RowsOf<T>>> => {
    // the driver has no type parameters; the services of `onWait` are in the type of the result
    const { from, onWait } = keeping as Keeping<never>
    return recoverEffect(rowsOf(table, "a plain effect"), self, { onWait, from, keep: seenOf }) as never
  }

/**
 * Computes the worst case of a policy without running it. The policy is a table or a single verdict, and any failures may come in any
 * order. A real call never exceeds these bounds. `Explanation.format` makes a text table of the result.
 *
 * It steps schedules with the extremes of `Random` and a clock that jumps; a schedule with another source of waits counts as unknown. A
 * `when` counts as the verdicts in its `among`. Fixers count the model calls that their budget allows; a fixer that is a plain function
 * counts none.
 */
export const explain = (
  policy: Exclude<AnyRow, (...args: never) => unknown> | { readonly [row: string]: AnyRow | undefined },
  options?: ExplainOptions
): Explanation => explaining(rowsOf(isRow(policy) ? { orElse: policy } : policy), options)

/**
 * Whether a value is a single row, not a table of rows.
 *
 * @internal
 */
export const isRow = (policy: unknown): policy is AnyRow =>
  isVerdict(policy) || Schedule.isSchedule(policy) || Predicate.isFunction(policy)

/**
 * The rows of a table. Throws a `TypeError` if the value is no table, or one of its rows is invalid.
 *
 * @internal
 */
export const rowsOf = (table: object, of?: Of): Internal.Rows => {
  if (isRow(table) || !Predicate.isObject(table)) {
    throw new TypeError("A table has a row for each tag: { orElse: row } is one")
  }
  const rows = new Map<string, Internal.Node>()
  for (const [key, row] of Object.entries(table)) if (row !== undefined) rows.set(key, rowNode(key, row))
  return of === undefined ? rows : checked(rows, of)
}
