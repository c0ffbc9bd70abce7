/** Copies for functions of the AI SDK, which may write into what they are given: in here it is frozen, and others read the same. */
import * as Predicate from "effect/Predicate"

/**
 * The same value with new plain objects and arrays, all the way down; what is neither is handed on as it is. Without a stack: depth and
 * cycles do not matter.
 */
export const copyOf = (root: unknown): unknown => {
  const copies = new Map<object, object>()
  const open: Array<readonly [from: object, to: object]> = []
  const copied = (value: unknown): unknown => {
    if (!isPlain(value)) return value
    const known = copies.get(value)
    if (known !== undefined) return known
    const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
    copies.set(value, copy)
    open.push([value, copy])
    return copy
  }
  const copy = copied(root)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, to] = next
    for (const [key, value] of Object.entries(from)) {
      // to assign `__proto__` would make it the prototype
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
