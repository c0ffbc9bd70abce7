/** The names of Anthropic's errors: in its own format, and behind routers that speak another one. */
import type { Codes } from "../classify/Report.ts"

/** `invalid_request_error` and `api_error` are missing: they are sent for everything, from a bill to an overload. */
export const codes: Codes = {
  authentication_error: "AuthenticationError",
  permission_error: "AuthenticationError",
  not_found_error: "ModelNotFoundError",
  request_too_large: "ContextTooLongError",
  rate_limit_error: "RateLimitError",
  billing_error: "QuotaExhaustedError",
  overloaded_error: "ModelOverloadedError",
  timeout_error: "RequestTimeoutError"
}
