/** The two conversions between a verdict and its node, the data that it consists of at run time. */
import * as Predicate from "effect/Predicate"
import type { FailureContext, Node } from "./Node.ts"
import { type AnyVerdict, TypeId } from "./verdictTypes.ts"

/**
 * The type `T`, but without inference from the place where the verdict is used: otherwise a row would decide the type of its own verdict.
 * `NoInfer` has the same effect, but stays visible in the types that users read.
 */
export type Given<T> = [T][T extends unknown ? 0 : never]

/**
 * Whether a value is a verdict.
 *
 * @internal
 */
export const isVerdict = (value: unknown): value is AnyVerdict => Predicate.hasProperty(value, TypeId)

// a verdict has its type parameters in its type only, so both conversions are casts
export function verdict<V extends AnyVerdict>(node: Node): V {
  return { ...node, [TypeId]: TypeId } as unknown as V
}

/**
 * Converts a verdict to its node.
 *
 * @internal
 */
export function nodeOf(self: AnyVerdict): Node {
  return self as unknown as Node
}

/** Drops the error type of a callback. The driver passes only errors of the row to it. */
export const erase = <E, B>(f: (error: E, context: FailureContext) => B) =>
  f as (error: unknown, context: FailureContext) => B
