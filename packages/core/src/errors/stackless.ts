/**
 * Makes errors about foreign input without a stack trace: the stack does not explain them, and capturing it is most of the cost of
 * an error. Effect makes its own `SchemaError` so.
 */

const isWritable = (() => {
  const descriptor = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")
  // Mutants `true`, `descriptor.writable`, `false` for `descriptor?.set !== undefined`, `descriptor?.set === undefined`, `descriptor.set`
  // survive: every runtime of the tests has the limit, and lets a program set it
  return descriptor?.writable === true || descriptor?.set !== undefined
})()

// not in any standard, but in most runtimes
const runtime = Error as typeof Error & { stackTraceLimit?: number }

/** Makes an error without a stack trace, if the runtime allows that. */
export const stackless = <E>(make: () => E): E => {
  const { stackTraceLimit } = runtime
  if (stackTraceLimit === undefined || !isWritable) return make()
  runtime.stackTraceLimit = 0
  try {
    return make()
  } finally {
    runtime.stackTraceLimit = stackTraceLimit
  }
}
