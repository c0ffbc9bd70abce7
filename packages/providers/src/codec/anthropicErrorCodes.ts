/** Anthropic's error names. They occur in its own format, and behind routers with another format. */
import type { Codes } from "../classify/Report.ts"

/**
 * The errors by Anthropic's names. `invalid_request_error` and `api_error` are absent, because Anthropic sends them for many failures, from
 * billing to overload.
 */
export const codes: Codes = {
  authentication_error: "AuthenticationError",
  permission_error: "AuthenticationError",
  not_found_error: "ModelNotFoundError",
  request_too_large: "ContextTooLongError",
  rate_limit_error: "RateLimitError",
  billing_error: "QuotaExhaustedError",
  enforced_spend_limit_reached: "QuotaExhaustedError",
  overloaded_error: "ModelOverloadedError",
  timeout_error: "RequestTimeoutError"
}
