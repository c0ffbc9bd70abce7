/**
 * Makes errors about foreign input without a stack trace: the stack does not explain them, and capturing it is most of the cost of
 * an error. Effect makes its own `SchemaError` so.
 */

const isWritable = (() => {
  const descriptor = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")
  return descriptor?.writable === true || descriptor?.set !== undefined
})()

// what no standard has, and most runtimes do
const runtime = Error as typeof Error & { stackTraceLimit?: number }

/** Makes an error without the places from which it comes; with them where the runtime does not let that be chosen. */
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
