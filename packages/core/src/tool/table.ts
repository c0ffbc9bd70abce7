/** The types of tables for a given tool, for a tool that comes later in a pipe, and for any tool. */
import type { Admits, AnyRows, RowKeys, Rows, ToolEnd } from "./rows.ts"
import type { AnyRow, AnswerOf, IsTable, Misfit } from "../recovery/TableTypes.ts"

/** A table for a tool that fails with `E` and gives `A`. */
export type Table<E, A> = AnyRows<E, A> & object

/**
 * Refuses keys for which the tool has no row, and rows that a tool with side effects `S` may not have. If the tool is not known yet, the
 * table may have any rows, and the tool that gets it is compared with them.
 */
export type CheckRows<T, E, S> = IsTable<T> & {
  readonly [K in keyof T]: unknown extends E
    ? T[K] extends AnyRow
      ? unknown
      : "A row is a verdict, a schedule or a handler"
    : K extends RowKeys<E>
      ? Misfit<T[K], ToolEnd, Admits<S, K>>
      : NoRow<K>
}

/** The compiler's text about a row for a failure that does not exist. */
export type NoRow<K> = `There is no row for '${K & string}': no call of this tool fails with that tag`

/** The rows that a table for any tool may have. */
type AnyToolKey = RowKeys<never>

/** A table for any tool: its failures, its result and its side effects may be type parameters. */
export type TableOfAny<E, A> = { readonly [K in AnyToolKey]?: AnyRows<E, A>[K] } & object

/** Refuses rows that the tool cannot have, and says why. The compiler reports this after its other errors. */
export type CheckAny<T, E, A, S> = IsTable<T> & {
  readonly [K in keyof T]: K extends AnyToolKey
    ? Misfit<T[K], ToolEnd, Admits<S, K>>
    : K extends RowKeys<E>
      ? T[K] extends Exclude<Rows<E, A, S>[K], undefined>
        ? unknown
        : Why<T[K], A, Admits<S, K>>
      : NoRow<K>
}

/** Why a row does not fit its tool. */
type Why<V, A, Acts> = [V] extends [AnyRow] ? WhyNot<V, A, Acts> : ARowIsAVerdictAScheduleOrAHandler

/** An interface and not a string type: a row intersected with a string would be `never`. */
interface ARowIsAVerdictAScheduleOrAHandler {
  readonly ARowIsAVerdictAScheduleOrAHandler: never
}

type WhyNot<V, A, Acts> = [AnswerOf<V>] extends [A]
  ? unknown extends Misfit<V, ToolEnd, Acts>
    ? "This row does not fit the failure"
    : Misfit<V, ToolEnd, Acts>
  : "The answer of this row is no result of the tool"

/** Compares a table with a tool, if the table was written before the tool was known. */
export type Fits<Expected, T, E, A, S> = unknown extends Expected
  ? [keyof T] extends [RowKeys<E>]
    ? [T] extends [Rows<E, A, S>]
      ? unknown
      : "A row of this table does not fit the tool: see its failures, its result and its side effects"
    : NoRow<Exclude<keyof T, RowKeys<E>>>
  : unknown

/** The table of a tool after a wrapper has added failures `E`. The tool's schema does not know these failures, so they cannot be stored. */
export type Behind<T, E> = [E] extends [never] ? T : Omit<T, "~storedFailures">
