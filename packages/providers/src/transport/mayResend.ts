/** Which failed requests may be resent. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Answer from "./Answer.ts"
import * as Hints from "./Hints.ts"

const resent: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529])

/** The tags that are resent when the error comes within a successful answer: those that a status in `resent` would have. */
const resentWithin: ReadonlySet<LlmError.LlmError["_tag"]> = new Set([
  "RateLimitError",
  "ModelOverloadedError",
  "ServerError"
])

/** The classification comes first: a spent quota is not resent, with any status. */
export const mayResend = (error: LlmError.LlmError, answer: Answer.Answer): boolean => {
  if (!error.isRetryable || Hints.forbidsResend(answer)) return false
  return Answer.isSuccess(answer) ? resentWithin.has(error._tag) : resent.has(answer.status)
}
