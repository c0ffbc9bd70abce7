/** Decides which failed requests may be resent. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Answer from "./Answer.ts"
import * as Hints from "./Hints.ts"

/**
 * Whether a later send may succeed after an answer with this status. The official SDKs of OpenAI and Anthropic resend after a timeout, a
 * conflict, a rate limit and every status from 500 on (`_should_retry` of their base clients, looked up on 2026-11-26). This library
 * resends after 425 (too early) as well.
 */
const isTransient = (status: number): boolean => status >= 500 || [408, 409, 425, 429].includes(status)

/** The tags of the errors that are resent if an answer with a 2xx status reports them. */
const resentWithin: ReadonlySet<LlmError.LlmError["_tag"]> = new Set([
  "RateLimitError",
  "ModelOverloadedError",
  "ServerError"
])

/** Whether a failed request may be resent. The class of the error counts before its status: a spent quota is never resent. */
export const mayResend = (error: LlmError.LlmError, answer: Answer.Answer): boolean => {
  // the job in the background has ended, and the same request would only read the same end again
  if (Hints.forbidsResend(answer) || error.isJobOver === true) return false
  if (isConflict(error)) return Answer.isSuccess(answer) || isTransient(answer.status)
  if (!error.isRetryable) return false
  return Answer.isSuccess(answer) ? resentWithin.has(error._tag) : isTransient(answer.status)
}

/**
 * Whether two requests conflicted at the server, so that the next one may pass. A conflict is classified as an `InvalidRequestError` unless
 * its body names another error.
 */
const isConflict = ({ _tag, status }: LlmError.LlmError): boolean => status === 409 && _tag === "InvalidRequestError"
