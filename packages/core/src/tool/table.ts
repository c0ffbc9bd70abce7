/** The types of a table for a given tool, for a tool that comes later, and for any tool. */
import type { Admits, AnyRows, RowKeys, Rows, ToolEnd } from "./rows.ts"
import type { AnyRow, AnswerOf, IsTable, Misfit } from "../recovery/TableTypes.ts"

/** A table for a tool that fails with `E` and gives `A`. */
export type Table<E, A> = AnyRows<E, A> & object

/**
 * Refuses keys that are no row, and rows that a tool with side effects `S` does not have. Where nothing is known of the tool, the table
 * may have any rows: the tool that gets it is compared with them.
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

/** Refuses rows that a tool cannot have, and says why: of this the compiler speaks last. */
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

/** No text: it would make nothing of a row that is one. */
interface ARowIsAVerdictAScheduleOrAHandler {
  readonly ARowIsAVerdictAScheduleOrAHandler: never
}

type WhyNot<V, A, Acts> = [AnswerOf<V>] extends [A]
  ? unknown extends Misfit<V, ToolEnd, Acts>
    ? "This row does not fit the failure"
    : Misfit<V, ToolEnd, Acts>
  : "The answer of this row is no result of the tool"

/** Compares a table with a tool, if the table was written without the tool. */
export type Fits<Expected, T, E, A, S> = unknown extends Expected
  ? [keyof T] extends [RowKeys<E>]
    ? [T] extends [Rows<E, A, S>]
      ? unknown
      : "A row of this table does not fit the tool: see its failures, its result and its side effects"
    : NoRow<Exclude<keyof T, RowKeys<E>>>
  : unknown

/** The table of a tool with a layer around it: the failures of the layer are not in the schema of the tool's own. */
export type Behind<T, E> = [E] extends [never] ? T : Omit<T, "~storedFailures">
