/** A failure of a model, and what is known beside it: the text that its reply had by then, the failures before it. */
import { isLlmError, type LlmError } from "../errors/LlmError.ts"
import { quietly } from "../data/Foreign.ts"

/** The same failure with that text; without any, it stays the same object. */
export const withPartial = (error: LlmError, partial: string): LlmError =>
  partial === "" || !isLlmError(error) ? error : copyWith(error, { partial })

/** The same failure, after those of other models; without any, it stays the same object. */
export const withEarlier = (error: LlmError, earlier: ReadonlyArray<LlmError>): LlmError =>
  earlier.length === 0 || !isLlmError(error)
    ? error
    : copyWith(error, { earlier: [...earlier, ...(error.earlier ?? [])] })

const copyWith = (error: LlmError, more: object): LlmError => {
  // the constructor of an error of the union is that of its class, and takes what the error has
  const made = error.constructor as new (fields: object) => LlmError
  const cause = "cause" in error ? { cause: error.cause } : {}
  // one that its own schema refuses, because nothing has checked it, stays as it is
  const copy = quietly(() => new made({ ...error, message: error.message, ...cause, ...more }), error)
  if (copy === error) return error
  // where it was made says more than where it was copied
  Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true })
  return copy
}
