/** Values that several readers share, of which none may change what the others read. */
import * as Predicate from "effect/Predicate"

/**
 * Freezes plain objects and arrays, all the way down. Returns `false` where it has met anything else (an instance of a class, a
 * `Date`, a `Map`, a function), which stays as it is and can still be changed. Linear, and without a stack: depth and cycles do not
 * matter.
 */
export const freeze = (root: unknown): boolean => {
  let isAll = true
  const open = [root]
  const met = new Set<unknown>()
  while (open.length > 0) {
    const current = open.pop()
    if (Predicate.isFunction(current)) isAll = false
    if (!Predicate.isObjectOrArray(current) || met.has(current)) continue
    met.add(current)
    if (isPlain(current)) for (const value of Object.values(Object.freeze(current))) open.push(value)
    else isAll = false
  }
  return isAll
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}
