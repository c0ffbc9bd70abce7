/** Caches encoded values, so that a turn does not encode the transcript before it again. */

/** Caches the results of a function by the identity of its argument, for as long as the argument lives. */
export const remembering = <A extends object, B>(encode: (value: A) => B): ((value: A) => B) => {
  const results = new WeakMap<A, B>()
  return (value) => {
    const before = results.get(value)
    if (before !== undefined) return before
    const encoded = encode(value)
    results.set(value, encoded)
    return encoded
  }
}
