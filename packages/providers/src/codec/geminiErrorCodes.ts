/** Gemini's error names. They occur in its own format, and behind routers with another format. */
import { dailyQuota } from "../classify/DailyQuota.ts"
import type { Codes } from "../classify/Report.ts"

/**
 * The errors by Gemini's names: reasons first, then statuses. A wrong key is recognised by its reason, because its status is 400 with an
 * unspecific name.
 */
export const codes: Codes = {
  [dailyQuota]: "QuotaExhaustedError",
  api_key_invalid: "AuthenticationError",
  unauthenticated: "AuthenticationError",
  permission_denied: "AuthenticationError",
  not_found: "ModelNotFoundError",
  resource_exhausted: "RateLimitError",
  unavailable: "ModelOverloadedError",
  deadline_exceeded: "RequestTimeoutError"
}
