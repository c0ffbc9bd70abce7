/**
 * Errors by the names of TnsAI's factories, for programs that come from TnsAI. The names are in camel case, and the order of parameters is
 * the same. `make` of each class takes named fields instead.
 */
import * as Duration from "effect/Duration"
import type * as Schema from "effect/Schema"
import * as Redaction from "../data/Redaction.ts"
import * as RetryAfter from "../data/RetryAfter.ts"
import { categoryOfStatus } from "./facts.ts"
import * as LlmError from "./LlmError.ts"
import * as ToolError from "./ToolError.ts"

/** The model does not exist, or this key may not use it. */
export const modelNotFound = (model: string): LlmError.ModelNotFoundError => LlmError.ModelNotFoundError.make({ model })

/** The key is missing, wrong, or lacks the permission. `message` is the text of the provider. */
export const authenticationFailed = (model: string, message: string): LlmError.AuthenticationError =>
  LlmError.AuthenticationError.make({ model, detail: message })

/** The provider's content policy held the prompt or the answer back. */
export const contentFiltered = (model: string, message: string): LlmError.ContentFilteredError =>
  LlmError.ContentFilteredError.make({ model, detail: message })

/** The model has no capacity left at the moment. */
export const modelOverloaded = (model: string): LlmError.ModelOverloadedError =>
  LlmError.ModelOverloadedError.make({ model })

/** The conversation does not fit the model's context window. `limit` and `actual` are in tokens; either may be unknown. */
export const contextTooLong = (model: string, limit?: number, actual?: number): LlmError.ContextTooLongError =>
  LlmError.ContextTooLongError.make({ model, limit, actual })

/** The provider failed on its side. */
export const serverError = (model: string, cause?: unknown): LlmError.ServerError =>
  LlmError.ServerError.make({ model, ...causeOf(cause) })

/** The provider rejected the tool call that its model wrote. */
export const malformedToolCall = (
  model: string,
  tool: string,
  message: string,
  cause?: unknown
): LlmError.MalformedToolCallError =>
  LlmError.MalformedToolCallError.make({ model, tool, detail: message, ...causeOf(cause) })

/**
 * A service answered with the status 429. Its header `Retry-After` gives the wait: seconds, fractions included, or an HTTP date relative to
 * `now`. A date in the past is a wait of zero. A header that cannot be read gives no hint, nor does a date without `now`.
 */
export const fromHttp429 = (
  service: string,
  retryAfter: string | null | undefined,
  { now }: { readonly now?: Parameters<typeof RetryAfter.parse>[1] } = {}
): LlmError.RateLimitError => {
  const wait = RetryAfter.parse(retryAfter, now)
  return LlmError.RateLimitError.make({ service, status: 429, ...(wait === undefined ? {} : { retryAfter: wait }) })
}

/** The service limits the rate of requests. The error has the endpoint without its query string, which may hold a key. */
export const apiRateLimit = (endpoint: string, retryAfter: Duration.Input): LlmError.RateLimitError =>
  LlmError.RateLimitError.make({
    service: withoutQuery(endpoint),
    retryAfter: Duration.fromInputUnsafe(retryAfter)
  })

/** The account has no credit or quota left. The advised wait before the next look is 5 minutes. */
export const llmQuotaExceeded = (model: string): LlmError.QuotaExhaustedError =>
  LlmError.QuotaExhaustedError.make({ model })

/** No server listens at the port. */
export const connectionRefused = (host: string, port: number): LlmError.NetworkError =>
  LlmError.NetworkError.make({ host, port, what: `Connection to ${host}:${port} was refused` })

/** The name of the host is not known. */
export const dnsResolutionFailed = (host: string, cause: unknown): LlmError.NetworkError =>
  LlmError.NetworkError.make({ host, cause, what: `The name '${host}' could not be resolved` })

/** The connection took longer than its limit. */
export const connectionTimeout = (host: string, port: number, timeout: Duration.Input): LlmError.NetworkError => {
  const limit = Duration.format(Duration.fromInputUnsafe(timeout))
  return LlmError.NetworkError.make({ host, port, what: `Connecting to ${host}:${port} took longer than ${limit}` })
}

/** The model call took longer than its limit. */
export const llmTimeout = (timeout: Duration.Input): LlmError.RequestTimeoutError => timedOut("the model call", timeout)

/** The request took longer than its limit. The error has the URL without its query string, which may hold a key. */
export const httpTimeout = (url: string, timeout: Duration.Input): LlmError.RequestTimeoutError =>
  timedOut(withoutQuery(url), timeout)

/** The model does not stream. */
export const streamingNotSupported = (model: string, provider: string): LlmError.CapabilityMismatchError =>
  LlmError.CapabilityMismatchError.make({ model, provider, capability: "streaming" })

/** The model does not read images. */
export const visionNotSupported = (model: string, provider: string): LlmError.CapabilityMismatchError =>
  LlmError.CapabilityMismatchError.make({ model, provider, capability: "vision" })

/** The model does not answer by a schema. */
export const structuredOutputNotSupported = (model: string, provider: string): LlmError.CapabilityMismatchError =>
  LlmError.CapabilityMismatchError.make({ model, provider, capability: "structuredOutput" })

/** The model does not call tools. */
export const toolCallNotSupported = (model: string, provider: string): LlmError.CapabilityMismatchError =>
  LlmError.CapabilityMismatchError.make({ model, provider, capability: "tools" })

/** A tool without side effects took longer than its limit. */
export const actionTimeout = (tool: string, timeout: Duration.Input): ToolError.ToolTimeoutError =>
  ToolError.ToolTimeoutError.make({ tool, timeout: Duration.fromInputUnsafe(timeout) })

/** A connection of the tool failed. */
export const fromNetworkError = (
  tool: string,
  kind: ToolError.Kind,
  cause: unknown,
  call?: Call
): ToolError.ExecutionError =>
  ToolError.ExecutionError.make({ tool, kind, category: "network", ...call, ...causeOf(cause) })

/** A parameter of the tool is wrong; the model can correct it. */
export const fromParameterError = (
  tool: string,
  kind: ToolError.Kind,
  message: string,
  cause?: unknown,
  call?: Call
): ToolError.ExecutionError =>
  ToolError.ExecutionError.make({ tool, kind, category: "parameter", message, ...call, ...causeOf(cause) })

/**
 * A service answered with an error status. A status 4xx has the category `client`, 5xx `server`. 408, 425 and 429 are retryable although
 * they are 4xx.
 */
export const fromApiError = (
  tool: string,
  kind: ToolError.Kind,
  status: number,
  message: string,
  cause?: unknown,
  call?: Call
): ToolError.ExecutionError =>
  ToolError.ExecutionError.make({
    tool,
    kind,
    category: categoryOfStatus(status),
    status,
    message: message === "" ? `status ${status}` : `${message} (status ${status})`,
    ...call,
    ...causeOf(cause)
  })

/** A model that the tool calls has failed. The error has the advice of `cause`. */
export const fromLlmError = (
  tool: string,
  kind: ToolError.Kind,
  cause: LlmError.LlmError,
  call?: Call
): ToolError.ExecutionError => ToolError.ExecutionError.make({ tool, kind, category: "llm", cause, ...call })

/** An MCP server failed. */
export const fromMcpError = (tool: string, cause: unknown, call?: Call): ToolError.ExecutionError =>
  ToolError.ExecutionError.make({ tool, kind: "mcp-tool", category: "mcp", ...call, ...causeOf(cause) })

/** The function of the tool threw. */
export const fromInvocationError = (
  tool: string,
  kind: ToolError.Kind,
  cause: unknown,
  call?: Call
): ToolError.ExecutionError =>
  ToolError.ExecutionError.make({ tool, kind, category: "invocation", ...call, ...causeOf(cause) })

/** The call that failed, where it is known: its id and its decoded arguments. */
interface Call {
  readonly callId?: string
  readonly args?: Schema.Json
}

const causeOf = (cause: unknown) => (cause === undefined ? {} : { cause })

const withoutQuery = (url: string): string => Redaction.foreign(url.replace(/[?#].*/s, ""))

const timedOut = (operation: string, timeout: Duration.Input): LlmError.RequestTimeoutError =>
  LlmError.RequestTimeoutError.make({ operation, timeout: Duration.fromInputUnsafe(timeout) })
