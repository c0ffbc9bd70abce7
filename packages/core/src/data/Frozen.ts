/** Values that several readers share, of which none may change what the others read. */

/**
 * Freezes plain objects and arrays, all the way down. Returns `false` where it has met anything else (an instance of a class, a
 * `Date`, a `Map`, a function), which stays as it is and can still be changed. Linear, and without a stack: depth and cycles do not
 * matter.
 */
export const freeze = (root: unknown): boolean => {
  let isAll = true
  let current = root
  /** Those that are still to be looked at; most values need no list. */
  let open: Array<unknown> | undefined
  /** Those that were frozen when they were met: by their maker, whose fields may not be, or in here. */
  let met: Set<object> | undefined
  do {
    if (typeof current === "object" && current !== null) {
      if (!isPlain(current)) isAll = false
      else if (met?.has(current) !== true) {
        if (Object.isFrozen(current)) (met ??= new Set()).add(current)
        else Object.freeze(current)
        // `Object.values` would allocate a list for each
        for (const key in current) {
          // fields of anything
          const value = (current as Readonly<Record<string, unknown>>)[key]
          if (typeof value === "function" || (typeof value === "object" && value !== null)) (open ??= []).push(value)
        }
      }
    } else if (typeof current === "function") isAll = false
    current = open?.pop()
  } while (current !== undefined)
  return isAll
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}
