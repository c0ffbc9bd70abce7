/** A failure of a model, and the text that its reply had by then. */
import { isLlmError, type LlmError } from "../LlmError.ts"
import { quietly } from "./reading.ts"

/** The same failure with that text; without any, it stays the same object. */
export const withPartial = (error: LlmError, partial: string): LlmError => {
  if (partial === "" || !isLlmError(error)) return error
  // the constructor of an error of the union is that of its class, and takes what the error has
  const made = error.constructor as new (fields: object) => LlmError
  const cause = "cause" in error ? { cause: error.cause } : {}
  // one that its own schema refuses, because nothing has checked it, stays as it is
  const copy = quietly(() => new made({ ...error, message: error.message, ...cause, partial }), error)
  if (copy === error) return error
  // where it was made says more than where it was copied
  Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true })
  return copy
}
