/** The failure of a tool that calls an HTTP API. */
import * as Schema from "effect/Schema"

/**
 * The kind of failure:
 *
 * - `arguments`: the API refuses the request (400, 404, 409, 422 and the like). Its words say what is wrong, and a model can mend it.
 * - `authentication`: status 401 or 403. Another attempt does not help.
 * - `busy`: status 408, 425, 429 or 503. The API asks to wait.
 * - `server`: any other status of 500 or above.
 * - `redirect`: the API redirects the request to another address, which this library does not follow.
 * - `result`: the answer does not fit what the API declares.
 * - `timeout`: no whole answer came within the `timeout` of the tools. The request may have taken effect.
 */
const Reason = Schema.Literals(["arguments", "authentication", "busy", "server", "redirect", "result", "timeout"])

/** The cause of an `ExecutionError` of a tool that calls an API. The `ExecutionError` takes its category and its advice. */
export class ApiError extends Schema.TaggedError<ApiError>()("ApiError", {
  message: Schema.String,
  /** The name of the API; `RPC` for the procedures of a group, which has no name. */
  api: Schema.String,
  /** The endpoint or the operation, under the name that the API has for it. */
  operation: Schema.String,
  reason: Reason,
  status: Schema.optionalKey(Schema.Finite),
  category: Schema.Literals(["parameter", "client", "server", "validation", "network"]),
  isRetryable: Schema.optionalKey(Schema.Boolean),
  recovery: Schema.optionalKey(Schema.Literals(["repair", "none"])),
  suggestedDelay: Schema.optionalKey(Schema.Duration)
}) {}
