/** The whole message of errors: what happened, where, in whose words, and what helps. */
import { assert } from "@effect/vitest"

/** Errors of one class, each with its message without the last sentence, which is `help`. */
export const reads = (help: string, all: ReadonlyArray<readonly [error: Error, message: string]>): void => {
  for (const [error, message] of all) assert.strictEqual(error.message, `${message}. ${help}`)
}
