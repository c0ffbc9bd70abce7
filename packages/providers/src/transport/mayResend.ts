/** Which failed requests may be resent. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Answer from "./Answer.ts"
import * as Hints from "./Hints.ts"

/**
 * The official SDKs of OpenAI and Anthropic resend a timeout, a conflict, a rate limit and every status from 500 on
 * (`_should_retry` of their base clients, looked up on 2026-11-26). 425 is of the same kind.
 */
const isTransient = (status: number): boolean => status >= 500 || [408, 409, 425, 429].includes(status)

/** The tags that are resent when the error comes within a successful answer. */
const resentWithin: ReadonlySet<LlmError.LlmError["_tag"]> = new Set([
  "RateLimitError",
  "ModelOverloadedError",
  "ServerError"
])

/** The classification comes first: a spent quota is not resent, with any status. */
export const mayResend = (error: LlmError.LlmError, answer: Answer.Answer): boolean => {
  // to ask for a background reply once more does not change how it has ended
  if (Hints.forbidsResend(answer) || error.isJobOver === true) return false
  if (isConflict(error)) return Answer.isSuccess(answer) || isTransient(answer.status)
  if (!error.isRetryable) return false
  return Answer.isSuccess(answer) ? resentWithin.has(error._tag) : isTransient(answer.status)
}

/**
 * Two requests met at the server, and the next one may pass. It is called a refused request as long as its body names
 * nothing else.
 */
const isConflict = ({ _tag, status }: LlmError.LlmError): boolean => status === 409 && _tag === "InvalidRequestError"
