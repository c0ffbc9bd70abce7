/** What was encoded once is not encoded again: a turn does not pay for the transcript before it. */

/** The function, with its results remembered by the identity of their values for as long as those live. */
export const remembering = <A extends object, B>(encode: (value: A) => B): ((value: A) => B) => {
  const known = new WeakMap<A, B>()
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    const encoded = encode(value)
    known.set(value, encoded)
    return encoded
  }
}
