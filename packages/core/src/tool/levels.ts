/** Which row of a table guards a failure. */
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import * as Call from "./call.ts"
import type { Node } from "../recovery/Node.ts"

/** The row of a level that guards an error, with its key: exact, then what stands for it, then `orElse`. */
export const rowIn = (
  rows: Recovery.Rows,
  error: unknown
): { readonly key: string; readonly verdict: Node } | undefined => {
  const standIn = Call.isArgumentError(error) ? "InvalidArgs" : "ExecutionError"
  for (const key of [ErrorCause.tagOf(error), standIn, "orElse"]) {
    const verdict = rows.get(key)
    if (verdict !== undefined) return { key, verdict }
  }
  return undefined
}
