/** Gemini's error names, in its own format and behind routers of another format. */
import { dailyQuota } from "../classify/DailyQuota.ts"
import type { Codes } from "../classify/Report.ts"

/** Reasons, then status names. A wrong key has status 400 and an unspecific name. */
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
