/** The error of a folder that PGlite cannot open. */
import { ConnectionError, SqlError } from "effect/sql/SqlError"

/** Makes the error for a folder that cannot be read or written, or that has no database of PGlite. */
export const unusable = (folder: string, cause: unknown): SqlError => {
  const message = `PGlite cannot open '${folder}': ${cause instanceof Error ? cause.message : String(cause)}`
  return new SqlError({ reason: new ConnectionError({ cause, message, operation: "open" }) })
}
