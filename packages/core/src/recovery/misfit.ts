/**
 * The types that refuse a row in the wrong layer, with a sentence as the compiler's error. A table accepts any row first, and is compared
 * afterwards.
 */
import type { ActsOf, EndOf, RowOf, TypeId } from "./verdictTypes.ts"

/** Any row for a failure `E` that may answer with `A`. */
export type AnyRowOf<E, A> = RowOf<E, A, unknown, unknown>

/**
 * `unknown` if the row fits a layer, otherwise the sentence that says why not. A row fits if it ends as `End`, and does no more than `Acts`
 * before. A handler with a type that is not inferred yet fits.
 */
export type Misfit<V, End, Acts> = [V] extends [Ends<End, Acts> | undefined]
  ? unknown
  : unknown extends EndOfVerdict<V>
    ? unknown
    : Why<V, End, Acts>

/** The compared properties of a verdict. Comparing them alone is faster than comparing whole rows. */
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

/** The compiler's error for a retry that could do harm. No verdict has this act. */
type UnsafeRetry = 'A tool with unsafe side effects runs again only with { acknowledge: "may run twice" }'

/** Refuses keys that are no row, and rows that the layer does not allow. */
export type Check<T, Keys, End, Acts> = IsTable<T> & {
  readonly [K in keyof T]: K extends Keys
    ? Misfit<T[K], End, Acts>
    : `There is no row for '${K & string}': nothing fails with that tag here`
}

/** The shapes of a row that is not in a table. The types of rows would be more exact, but the compiler takes longer for them. */
type Rowlike = { readonly [TypeId]: unknown } | { readonly "~effect/Schedule": unknown } | ((...args: never) => unknown)

/** Refuses a single row where a table is expected. */
export type IsTable<T> = [T] extends [Rowlike] ? "A table has a row for each tag: { orElse: row } is one" : unknown

/**
 * Checks the options of a call without using their values: the compiler compares the values with the types of the options alone. An
 * undeclared option is refused, and `Elsewhere` names what to write instead.
 */
export type Present<Given, Declared, Elsewhere> = {
  readonly [K in keyof Given]: K extends Declared
    ? unknown
    : string extends K
      ? unknown // a record of any names
      : Refused<`There is no option '${K & string}'${K extends keyof Elsewhere ? `: ${Elsewhere[K] & string}` : ""}`>
}

/** A type without values, for a sentence as the compiler's error. A literal type would make editors suggest the sentence as a value. */
interface Refused<Sentence> {
  readonly [refused]: Sentence
}

declare const refused: unique symbol

/** `Absent` if the option may be missing from `Given`, although its type has it. */
export type May<Given, Option extends PropertyKey, Absent> = Option extends keyof Given
  ? Given extends Record<Option, unknown>
    ? never
    : Absent
  : never
