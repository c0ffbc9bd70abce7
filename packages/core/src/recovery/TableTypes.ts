/** The types of tables: their rows, the merge of two tables, and the failures that a table leaves. */
import type { EndOf, ErrorOf } from "./verdictTypes.ts"
import type { rethrow } from "./Verdict.ts"

export type {
  Acknowledged,
  ActsOf,
  AnswerOf,
  AnyRow,
  EndOf,
  ErrorOf,
  Handler,
  RowOf,
  ServicesOf
} from "./verdictTypes.ts"
export type { AnyRowOf, Check, IsTable, May, Misfit, Present } from "./misfit.ts"

export interface Tagged {
  readonly _tag: string
}

export type TagOf<E> = E extends Tagged ? E["_tag"] : never

/** The row of a table under the key `K`, or `Else` without such a row; both if the row is optional. */
export type Row<T, K, Else> = T extends unknown
  ? K extends keyof T
    ? Exclude<T[K], undefined> | (undefined extends T[K] ? Else : never)
    : Else
  : never

/**
 * Merges two tables: if both have a row, the later one wins. Distributes over unions of tables.
 *
 * @hidden
 */
export type Merge<Old, New> = New extends unknown
  ? Old extends unknown
    ? { readonly [K in keyof Old | keyof New]: Row<New, K, K extends keyof Old ? Old[K] : undefined> }
    : never
  : never

/**
 * The failures that a table leaves of a plain effect. A failure without a row leaves unchanged.
 *
 * @hidden
 */
export type Residue<E, T> = E extends unknown
  ? Left<E, Row<T, E extends Tagged ? E["_tag"] : "orElse", Row<T, "orElse", typeof rethrow>>>
  : never

type Left<E, V> = ErrorOf<V> | ([EndOf<V>] extends [never] ? never : E)

/** The union of all rows of a table; distributes over unions of tables. */
export type RowsOf<T> = T extends unknown ? T[keyof T] : never
