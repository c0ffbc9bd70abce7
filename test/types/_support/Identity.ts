/**
 * Type identity, for tests that pin a type.
 *
 * Mutual `extends` is true for `any` on either side, so a type that fell to `any` passes such a test. Identity does not
 * have that hole: `any` equals `any` alone.
 */

/** `true` when the two types are identical, `false` otherwise; `any`, `unknown` and `never` equal themselves only. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** `true` for `any` alone. */
export type IsAny<T> = 0 extends 1 & T ? true : false

/** Compiles when given `true`: `type _ = Expect<Equal<A, B>>`. */
export type Expect<T extends true> = T

/** Compiles when the inferred type of `value` is identical to `Expected`: `sameType<number>()(1 as number)`. */
export const sameType =
  <Expected>() =>
  <Actual>(value: Actual, ...identical: Equal<Actual, Expected> extends true ? [] : [never]): Actual => {
    void identical
    return value
  }
