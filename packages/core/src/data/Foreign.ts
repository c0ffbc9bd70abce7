/** Reads foreign values safely: a getter or a proxy of a foreign object may throw. */
import * as Predicate from "effect/Predicate"

export const quietly = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}

/** A property of anything, or `undefined`. */
export const property = (value: unknown, key: string): unknown =>
  // Mutant `true` survives: speed only. `in` throws for any other value
  Predicate.isObjectKeyword(value)
    ? quietly(() => (key in value ? Reflect.get(value, key) : undefined), undefined)
    : undefined

/** Returns the value. If every access throws, as with a revoked proxy, it returns an error that says so. */
export const approachable = (value: unknown): unknown =>
  quietly(() => Object.isExtensible(value) || true, false) ? value : new TypeError("a value that cannot be looked at")

/**
 * Whether JSON has more than `levels` nested levels. A list or an object is one level. Does not recurse. The default is the depth at which
 * serialising the value would overflow the stack.
 *
 * By default it is about levels that are so many that writing the value down would reach the end of the stack.
 */
export const isDeep = (value: unknown, levels = 1000): boolean => {
  if (!Predicate.isObjectOrArray(value)) return false
  let level = new Set([value])
  for (let depth = 1; level.size > 0; depth++) {
    if (depth > levels) return true
    const nextLevel: typeof level = new Set()
    for (const one of level)
      for (const item of Object.values(one)) if (Predicate.isObjectOrArray(item)) nextLevel.add(item)
    level = nextLevel
  }
  return false
}

/**
 * Freezes plain objects and arrays at every level. Returns `false` if the value holds anything else (a class instance, a `Date`, a `Map`, a
 * function), which stays mutable. Takes linear time and does not recurse, so depth and cycles do not matter.
 */
export const freeze = (root: unknown): boolean => {
  let isAll = true
  const stack = [root]
  // most values are flat
  let met: Set<unknown> | undefined
  while (stack.length > 0) {
    const current = stack.pop()
    if (Predicate.isFunction(current)) isAll = false
    if (!Predicate.isObjectOrArray(current) || met?.has(current) === true) continue
    if (!isPlain(current)) {
      isAll = false
      continue
    }
    met?.add(current)
    for (const value of Object.values(Object.freeze(current))) {
      if (!Predicate.isObjectOrArray(value) && !Predicate.isFunction(value)) continue
      met ??= new Set([current])
      stack.push(value)
    }
  }
  return isAll
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}
