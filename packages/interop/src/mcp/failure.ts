/** The error for a failure of an MCP server. It names the server and the tool. */
import * as RetryAfter from "@kintsugi/core/RetryAfter"
import type * as McpClientError from "effect/ai/McpClientError"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import type * as Redaction from "@kintsugi/core/Redaction"

/**
 * The kind of failure:
 *
 * - `connection`: the server cannot be reached.
 * - `timeout`: it did not answer in time.
 * - `authentication`: it demands credentials.
 * - `protocol`: it refused the request, or its answer cannot be understood.
 * - `tool`: the tool ran and reported a failure.
 * - `result`: the result does not fit the schema that the tool declares.
 * - `input`: it needs an answer of a person or a model (elicitation, sampling), and this client refuses such requests.
 * - `changed`: the server has changed or added the tool, and the new definition was not accepted.
 */
const Reason = Schema.Literals([
  "connection",
  "timeout",
  "authentication",
  "protocol",
  "tool",
  "result",
  "input",
  "changed"
])

/**
 * The cause of an `ExecutionError` of category `mcp`. If it has recovery advice, as a call with bad arguments has, the `ExecutionError`
 * takes that advice. Otherwise the category decides.
 */
export class McpError extends Schema.TaggedError<McpError>()("McpError", {
  message: Schema.String,
  server: Schema.String,
  /** The name of the tool; absent if the failure is not about a tool. */
  tool: Schema.optionalKey(Schema.String),
  reason: Reason,
  /** The code of the JSON-RPC error, if there is one. */
  rpcCode: Schema.optionalKey(Schema.Finite),
  /** The status of the HTTP response, if it failed. */
  status: Schema.optionalKey(Schema.Finite),
  isRetryable: Schema.optionalKey(Schema.Boolean),
  recovery: Schema.optionalKey(Schema.Literals(["repair", "none"])),
  suggestedDelay: Schema.optionalKey(Schema.Duration)
}) {
  readonly category = "mcp"
}

export interface Where {
  readonly server: string
  readonly tool?: string
  readonly redact: typeof Redaction.own
}

type Fields = Omit<ConstructorParameters<typeof McpError>[0], "server" | "tool" | "message">

const make = ({ redact, server, tool }: Where, said: string, fields: Fields): McpError => {
  const where = tool === undefined ? `MCP server '${server}'` : `tool '${tool}' of MCP server '${server}'`
  return new McpError({
    message: `${where}: ${redact(said)}`,
    server,
    ...(tool === undefined ? {} : { tool }),
    ...fields
  })
}

const final = { isRetryable: false, recovery: "none" } as const

const repairable = { isRetryable: false, recovery: "repair" } as const

/** The codes of JSON-RPC for a request that is wrong, so that a retry would fail too. */
const INVALID_REQUEST = -32_600
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/**
 * Makes the error for a failure of Effect's MCP client. `now` is in milliseconds since the epoch; `also` has further texts for the message.
 */
export const fromClient = (
  where: Where,
  { reason }: McpClientError.McpClientError,
  { also = [], now }: { readonly also?: ReadonlyArray<string>; readonly now: number }
): McpError => {
  const failure = (fields: Fields) => make(where, [reason.message, ...also].join("; "), fields)
  switch (reason._tag) {
    case "TransportError":
    case "ClosedError":
      return failure({ reason: "connection" })
    case "TimeoutError":
      return failure({ reason: "timeout" })
    case "HttpError": {
      const { status } = reason
      if (status === 401 || status === 403) return failure({ reason: "authentication", status, ...final })
      if (status < 500 && status !== 408 && status !== 425 && status !== 429) {
        return failure({ reason: "protocol", status, ...final })
      }
      const wait = RetryAfter.parse(reason.retryAfter, now)
      return failure({
        reason: "connection",
        status,
        ...(wait === undefined ? {} : { isRetryable: true, suggestedDelay: Duration.max(wait, Duration.millis(1)) })
      })
    }
    case "ProtocolError": {
      const code = reason.code === undefined ? {} : { rpcCode: reason.code }
      return failure({ reason: "protocol", ...code, ...adviceOf(reason.code) })
    }
    case "ToolError":
      return failure({ reason: "tool" })
    case "LimitError":
    case "ConfigurationError":
    case "UnsupportedError":
    case "ValidationError":
      return failure({ reason: "protocol", ...final })
  }
}

const adviceOf = (code: number | undefined) =>
  code === INVALID_PARAMS ? repairable : code === INVALID_REQUEST || code === METHOD_NOT_FOUND ? final : {}

/**
 * Makes the error for a result with `isError`. The official SDK reports bad arguments in this way too, with their JSON-RPC code in the
 * text.
 */
export const fromResult = (where: Where, text: string): McpError =>
  make(where, text === "" ? "it failed and does not say why" : text, {
    reason: "tool",
    ...(text.startsWith(`MCP error ${INVALID_PARAMS}`) ? repairable : {})
  })

/**
 * Makes the error for a call in which the server asked its client for something and did not get it. `methods` are the methods of those
 * requests.
 */
export const withoutInput = (where: Where, methods: ReadonlyArray<string>, said: string): McpError =>
  make(where, `it needs ${methods.map((method) => `'${method}'`).join(", ")}, which this client refuses: ${said}`, {
    reason: "input",
    ...final
  })

/** Makes the error for a tool that is left out: its definition differs from the pinned one, or it is new. */
export const notPinned = (where: Where, why: "changed" | "new"): McpError =>
  make(
    where,
    why === "new"
      ? "it is new, and new tools are refused"
      : "its definition has changed, and changed tools are refused",
    {
      reason: "changed",
      ...final
    }
  )

export const misfit = (where: Where, issues: string): McpError =>
  make(where, `its result does not fit its own schema: ${issues}`, { reason: "result", ...final })
