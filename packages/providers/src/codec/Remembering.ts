/** Encodes each value once, so that a turn does not pay for the transcript before it. */

/** The function with its results cached by the identity of their values, as long as those live. */
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
