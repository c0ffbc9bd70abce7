/**
 * The types of a table that is written together with its tool. The compiler reads the table before it has read `run`, and once more after it:
 * what is not known the first time fits.
 */
import type { Admits, Later, RowInput, RowKeys, ToolEnd } from "./rows.ts"
import type { TimeoutOf } from "./ToolTypes.ts"
import type { NoRow } from "./table.ts"
import type { AnyRowOf, Misfit } from "../recovery/TableTypes.ts"

/** `T`, but nothing is inferred for it from the table. `NoInfer` does the same, but stays in the types that users read. */
type Given<T> = [T][T extends unknown ? 0 : never]

/** What a tool fails with, and what the rows of its table are typed by. */
export type OwnRows<E, A, S, T, VR> = Ahead<Given<E> | TimeoutOf<Given<S>, Given<T>, Given<VR>>, Given<A>> & object // without it a table of which no row is known yet would fit nothing

type Ahead<E, A> = { readonly [K in RowKeys<E>]?: AnyRowOf<InputAhead<E, K>, A> }

/** A row for a failure that is not known yet is for any. So is `orElse` of a tool without failures of its own. */
type InputAhead<E, K> = [K extends "orElse" ? E : RowInput<E, K>] extends [never] ? unknown : RowInput<E, K>

/** The option of a tool that is its first table. */
export interface OwnTable<Rows> {
  /**
   * The first rows of `Tool.onError`: a later row for the same tag takes their place. It is written after `run`. Its handlers know their
   * errors; a function inside of `Recovery.when`, `tell`, `respondWith` or `fix` has to say the type of its error here.
   */
  readonly onError?: Rows
}

/**
 * Refuses keys that are no row, and rows that a tool with side effects `S` does not have. Whether `verify` is there is not known in time:
 * an unsafe tool may have the row of either failure.
 */
export type CheckOwn<Rows, E, S> = [keyof Rows] extends [never]
  ? unknown
  : Later extends E
    ? unknown
    : [keyof Misfits<Rows, E, S>] extends [never]
      ? unknown
      : { readonly onError: Misfits<Rows, E, S> }

type Misfits<Rows, E, S> = {
  readonly [K in keyof Rows as unknown extends Fit<Rows[K], E, S, K> ? never : K]: Fit<Rows[K], E, S, K>
}

type Fit<Row, E, S, K> = K extends RowKeys<E> | (S extends "unsafe" ? "ToolTimeoutError" : never)
  ? Misfit<Row, ToolEnd, Admits<S, K>>
  : NoRow<K>
