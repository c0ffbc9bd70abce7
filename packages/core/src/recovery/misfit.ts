/** What the compiler says about a row that a layer does not have: a table may have any row there, and is compared afterwards. */
import type { ActsOf, EndOf, RowOf, TypeId } from "./verdictTypes.ts"

/** Any row for a failure `E` that answers with `A`. */
export type AnyRowOf<E, A> = RowOf<E, A, unknown, unknown>

/**
 * Nothing, or why a layer has no such row: its rows end as `End` and do no more than `Acts` on the way. Of a handler that the compiler has
 * not read yet nothing is known; such a row fits.
 */
export type Misfit<V, End, Acts> = [V] extends [Ends<End, Acts> | undefined]
  ? unknown
  : unknown extends EndOfVerdict<V>
    ? unknown
    : Why<V, End, Acts>

/** What is compared of a verdict: handlers take the compiler longer. */
interface Ends<out End, out Acts> {
  readonly [TypeId]: { readonly _End: () => End; readonly _Acts: () => Acts }
}

type EndOfVerdict<V> = V extends Ends<infer End, unknown> ? End : never

type Why<V, End, Acts> =
  unknown extends EndOf<V>
    ? unknown
    : [Exclude<EndOf<V>, End>] extends [never]
      ? [Exclude<ActsOf<V>, Acts>] extends [never]
        ? unknown
        : NoSuchAct<Exclude<ActsOf<V>, Acts>>
      : NoSuchEnd<Exclude<EndOf<V>, End>>

type NoSuchEnd<End> = "told" extends End
  ? "There is no model here that could be told"
  : "raise" extends End
    ? "There is no call of a tool here that could be raised"
    : "This verdict is not allowed in this table"

type NoSuchAct<Act> = "repairs" extends Act
  ? "There are no arguments here that could be repaired"
  : "compacts" extends Act
    ? "Only a table for model calls has a conversation to compact"
    : "consults" extends Act
      ? "There is no call of a tool here that a person could decide about"
      : "repeats" extends Act
        ? UnsafeRetry
        : "This table does not allow what this verdict does before it ends"

/** What the compiler says about a retry that could do harm: no verdict acts so. */
type UnsafeRetry = 'A tool with unsafe side effects runs again only with { acknowledge: "may run twice" }'

/** Refuses keys that are no row, and rows that the layer does not have. */
export type Check<T, Keys, End, Acts> = IsTable<T> & {
  readonly [K in keyof T]: K extends Keys
    ? Misfit<T[K], End, Acts>
    : `There is no row for '${K & string}': nothing fails with that tag here`
}

/** What tells a row from a table: rows themselves take the compiler longer. */
type Rowlike = { readonly [TypeId]: unknown } | { readonly "~effect/Schedule": unknown } | ((...args: never) => unknown)

/** Refuses a row instead of a table. */
export type IsTable<T> = [T] extends [Rowlike] ? "A table has a row for each tag: { orElse: row } is one" : unknown

/**
 * Which options are given, and which of them are optional. Undeclared options are refused: `Elsewhere` names what to write instead. A mapped type without values: the compiler
 * compares the values with the types of the options alone.
 */
export type Present<Given, Declared, Elsewhere> = {
  readonly [K in keyof Given]: K extends Declared
    ? unknown
    : string extends K
      ? unknown // a record of any names
      : Refused<`There is no option '${K & string}'${K extends keyof Elsewhere ? `: ${Elsewhere[K] & string}` : ""}`>
}

/** What no value has. Editors offer the values of a literal type, and would offer the sentence. */
interface Refused<Sentence> {
  readonly [refused]: Sentence
}

declare const refused: unique symbol

/** `Absent` where an option may be absent, although one is given. */
export type May<Given, Option extends PropertyKey, Absent> = Option extends keyof Given
  ? Given extends Record<Option, unknown>
    ? never
    : Absent
  : never
