/** Values can be nested deeper than the stack reaches. That is a failure of who made them, not a defect. */
export const isOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.includes("call stack")
