/** Which row of a table guards a failure. */
import * as ErrorCause from "../ErrorCause.ts"
import type * as Recovery from "../Recovery.ts"
import * as Call from "./toolCall.ts"

/** The row of a level that guards an error: exact, then what stands for it, then `orElse`. */
export const keyIn = (rows: Recovery.Rows, error: unknown): string | undefined => {
  const tag = ErrorCause.tagOf(error)
  if (rows.has(tag)) return tag
  const standIn = Call.isArgumentError(error) ? "InvalidArgs" : "ExecutionError"
  if (rows.has(standIn)) return standIn
  return rows.has("orElse") ? "orElse" : undefined
}
