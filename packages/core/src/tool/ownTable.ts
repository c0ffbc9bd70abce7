/**
 * The types of a table that is written in the options of its tool. The compiler reads the table before `run`, and again after `run`. In the
 * first reading, types that are not known yet fit any row.
 */
import type { Admits, Later, RowInput, RowKeys, ToolEnd } from "./rows.ts"
import type { TimeoutOf } from "./ToolTypes.ts"
import type { NoRow } from "./table.ts"
import type { AnyRowOf, Misfit } from "../recovery/TableTypes.ts"

/** `T`, but the compiler infers nothing for it from the table. `NoInfer` does the same, but stays visible in the types that users read. */
type Given<T> = [T][T extends unknown ? 0 : never]

/** The rows of a tool's own table, typed by the failures and the result of the tool. */
export type OwnRows<E, A, S, T, VR> = Ahead<Given<E> | TimeoutOf<Given<S>, Given<T>, Given<VR>>, Given<A>> & object // without it a table of which no row is known yet would fit nothing

type Ahead<E, A> = { readonly [K in RowKeys<E>]?: AnyRowOf<InputAhead<E, K>, A> }

/**
 * The error type of a row. It is `unknown` for a failure that the compiler does not know yet, and for `orElse` of a tool without failures
 * of its own.
 */
type InputAhead<E, K> = [K extends "orElse" ? E : RowInput<E, K>] extends [never] ? unknown : RowInput<E, K>

/** The option `onError` of a tool, which is the tool's first table. */
export interface OwnTable<Rows> {
  /**
   * The first rows of `Tool.onError`: a later row for the same tag takes their place. Write this option after `run`. Its handlers know
   * their errors; a function inside of `Recovery.when`, `tell`, `respondWith` or `fix` has to say the type of its error here.
   */
  readonly onError?: Rows
}

/**
 * Refuses keys for which the tool has no row, and rows that a tool with side effects `S` may not have. The compiler does not know yet
 * whether the tool has `verify`, so an unsafe tool may have a row for either timeout error.
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
