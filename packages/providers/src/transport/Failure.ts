/** The failure of one attempt, and a function that finds it in a cause. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Cause from "effect/Cause"

/** A failed attempt, and whether the same request may be sent again. */
export interface Failure {
  readonly error: LlmError.LlmError
  readonly resend: boolean
}

/** The failure of a cause without interrupts and defects: these always win. */
export const onlyFailure = <E>(cause: Cause.Cause<E>): E | undefined => {
  let failure: E | undefined
  for (const reason of cause.reasons) {
    if (reason._tag !== "Fail") return undefined
    failure ??= reason.error
  }
  return failure
}
