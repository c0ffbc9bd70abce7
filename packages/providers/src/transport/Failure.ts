/** The failure of one attempt to send a request, and a function that finds it in a cause. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Cause from "effect/Cause"

/** A failed attempt, and whether the same request may be sent again. */
export interface Failure {
  readonly error: LlmError.LlmError
  readonly resend: boolean
}

/** The first failure of a cause; `undefined` if the cause has an interrupt or a defect too, because those take precedence. */
export const onlyFailure = <E>(cause: Cause.Cause<E>): E | undefined => {
  let failure: E | undefined
  for (const reason of cause.reasons) {
    if (reason._tag !== "Fail") return undefined
    failure ??= reason.error
  }
  return failure
}
