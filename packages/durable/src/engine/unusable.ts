/** Why a folder is no database. */
import { ConnectionError, SqlError } from "effect/sql/SqlError"

/** The folder cannot be read or written, or its content is no database. */
export const unusable = (folder: string, cause: unknown): SqlError => {
  const message = `PGlite cannot open '${folder}': ${cause instanceof Error ? cause.message : String(cause)}`
  return new SqlError({ reason: new ConnectionError({ cause, message, operation: "open" }) })
}
