/**
 * Whether an error is a stack overflow, as a value is nested too deeply. The author of the value gets a failure for it, and not a defect.
 */
export const isOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.includes("call stack")
