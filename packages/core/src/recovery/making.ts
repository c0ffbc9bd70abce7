/** How a verdict is made, and what it is made of. */
import * as Predicate from "effect/Predicate"
import type { FailureContext, Node } from "./Node.ts"
import { type AnyVerdict, TypeId } from "./verdictTypes.ts"

/**
 * `T`, but nothing is inferred for it from the place where the verdict stands: else a row would answer for its verdict.
 * `NoInfer` does the same, but stays in the types that users read.
 */
export type Given<T> = [T][T extends unknown ? 0 : never]

/**
 * Whether a value is a verdict.
 *
 * @internal
 */
export const isVerdict = (value: unknown): value is AnyVerdict => Predicate.hasProperty(value, TypeId)

// every type parameter is carried by the type alone: `verdict` and `nodeOf` are the two ends of that
export function verdict<V extends AnyVerdict>(node: Node): V {
  return { ...node, [TypeId]: TypeId } as unknown as V
}

/**
 * What a verdict is made of.
 *
 * @internal
 */
export function nodeOf(self: AnyVerdict): Node {
  return self as unknown as Node
}

/** A callback of a policy. The driver hands it only the errors that its row admits. */
export const erase = <E, B>(f: (error: E, context: FailureContext) => B) =>
  f as (error: unknown, context: FailureContext) => B
