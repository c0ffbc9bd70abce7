/**
 * Errors about what somebody has sent: where they are made says nothing of them, and looking at the stack is most of what an error
 * costs. Effect makes its own `SchemaError` so.
 */

const isWritable = (() => {
  const known = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")
  return known === undefined ? Object.isExtensible(Error) : known.writable === true || known.set !== undefined
})()

/** Makes an error without the places from which it comes; with them where the runtime does not let that be chosen. */
export const stackless = <E>(make: () => E): E => {
  if (!isWritable) return make()
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return make()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
