/** The failures of the stand-in server for tests, as OpenAI writes them: for chat completions and Responses. */
import type * as Wire from "./wire.ts"
import * as Parts from "./parts.ts"

export interface Words {
  readonly status: number
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The status, the message and the headers of a failure. `unknownModel` is given by the format, because its status differs between formats.
 */
export const words = (failure: Wire.Failure, unknownModel: Words): Words => {
  const wordsOf = (status: number, type: string, code: string | null, message: string, headers = {}): Words => ({
    status,
    error: { message, type, param: null, code },
    headers
  })
  switch (failure.type) {
    case "invalid-request":
      return wordsOf(400, "invalid_request_error", failure.code ?? null, failure.message)
    case "unauthorized":
      return failure.isKeyGiven
        ? wordsOf(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
        : wordsOf(401, "invalid_request_error", null, "You didn't provide an API key.")
    case "unknown-model":
      return unknownModel
    case "rate-limited": {
      const millis = Parts.waitOf(failure)
      const limit = "Rate limit reached for requests on requests per min (RPM): Limit 500, Used 500, Requested 1."
      return wordsOf(429, "requests", "rate_limit_exceeded", `${limit} Please try again in ${millis}ms.`, {
        "retry-after-ms": String(millis),
        "retry-after": String(Math.ceil(millis / 1000)),
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": `${millis}ms`
      })
    }
    case "quota-exhausted": {
      const message = "You exceeded your current quota, please check your plan and billing details."
      return wordsOf(429, "insufficient_quota", "insufficient_quota", message)
    }
    case "overloaded":
      return wordsOf(
        503,
        "service_unavailable_error",
        null,
        "The engine is currently overloaded, please try again later"
      )
    case "server-error": {
      const message = "The server had an error while processing your request. Sorry about that!"
      return wordsOf(500, "server_error", null, message)
    }
  }
}
