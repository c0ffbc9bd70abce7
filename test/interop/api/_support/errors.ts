/** What an error says, as plain data: `deepStrictEqual` of two errors compares their messages alone. */
import { assert } from "@effect/vitest"

export const fieldsOf = (error: Error): object => ({ ...error, message: error.message })

/** The fields of what a function throws. */
export const thrown = (run: () => unknown): object => {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return fieldsOf(error)
  }
  assert.fail("it throws no error")
}
