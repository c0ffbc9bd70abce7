/**
 * Copies inputs for functions of the AI SDK. These functions may write into their inputs, but the values of this library are frozen and
 * shared.
 */
import * as Predicate from "effect/Predicate"

/** A deep copy of plain objects and arrays; other values are shared. Iterative, so depth and cycles are safe. */
export const copyOf = (root: unknown): unknown => {
  const copies = new Map<object, object>()
  const unfilled: Array<readonly [from: object, to: object]> = []
  const copied = (value: unknown): unknown => {
    if (!isPlain(value)) return value
    const existing = copies.get(value)
    if (existing !== undefined) return existing
    const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
    copies.set(value, copy)
    unfilled.push([value, copy])
    return copy
  }
  const copy = copied(root)
  for (let next = unfilled.pop(); next !== undefined; next = unfilled.pop()) {
    const [from, to] = next
    for (const [key, value] of Object.entries(from)) {
      // Assigning `__proto__` would set the prototype.
      Object.defineProperty(to, key, { value: copied(value), configurable: true, enumerable: true, writable: true })
    }
  }
  return copy
}

const isPlain = (value: unknown): value is object => {
  if (!Predicate.isObjectOrArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}
