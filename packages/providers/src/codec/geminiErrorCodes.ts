/** The names of Gemini's errors: in its own format, and behind routers that speak another one. */
import { dailyQuota } from "../classify/DailyQuota.ts"
import type { Codes } from "../classify/Report.ts"

/** Reasons, then the names of statuses. A wrong key comes with status 400 and a name that says nothing of keys. */
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
