/** The errors for failures of an MCP server, with each of their fields. */
import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { McpClientError } from "effect/ai"
import * as Failure from "../../../packages/interop/src/mcp/failure.ts"

const redact = (text: string) => text.replaceAll("s3cret", "<redacted>")
const where = { server: "shop", tool: "buy", redact }

/** What an error says, with its wait in milliseconds. */
const fieldsOf = (error: Failure.McpError): object => {
  const { suggestedDelay, ...more } = { suggestedDelay: undefined, ...error }
  const wait = suggestedDelay === undefined ? {} : { wait: Duration.toMillis(suggestedDelay) }
  return { ...more, message: error.message, ...wait }
}

const ofCall = (said: string, fields: object) => ({
  _tag: "McpError",
  category: "mcp",
  message: `tool 'buy' of MCP server 'shop': ${said}`,
  server: "shop",
  tool: "buy",
  ...fields
})

const final = { isRetryable: false, recovery: "none" }

const ofClient = (reason: McpClientError.McpClientErrorReason, also?: ReadonlyArray<string>) =>
  fieldsOf(
    Failure.fromClient(where, new McpClientError.McpClientError({ reason }), {
      now: 0,
      ...(also === undefined ? {} : { also })
    })
  )

describe("a failure of the client", () => {
  it("without an answer is one of the connection or of time, any other is final, and one of the tool is the tool's", () => {
    for (const kind of ["LimitError", "ConfigurationError", "UnsupportedError", "ValidationError"] as const)
      assert.deepStrictEqual(
        ofClient(new McpClientError[kind]({ description: "no" })),
        ofCall("no", { reason: "protocol", ...final })
      )
    const result = { content: [] }
    assert.deepStrictEqual(
      ofClient(new McpClientError.ToolError({ result })),
      ofCall("MCP tool reported an error", { reason: "tool" })
    )
    assert.deepStrictEqual(
      ofClient(new McpClientError.TransportError({})),
      ofCall("MCP transport failed", { reason: "connection" })
    )
    assert.deepStrictEqual(
      ofClient(new McpClientError.ClosedError({}), ["it wrote: s3cret", "exit 1"]),
      ofCall("MCP connection closed; it wrote: <redacted>; exit 1", { reason: "connection" })
    )
    assert.deepStrictEqual(
      ofClient(new McpClientError.TimeoutError({ operation: "tools/call" })),
      ofCall("MCP tools/call deadline exceeded", { reason: "timeout" })
    )
    const alone = { server: "shop", redact }
    const error = Failure.fromClient(
      alone,
      new McpClientError.McpClientError({ reason: new McpClientError.TransportError({}) }),
      { now: 0 }
    )
    assert.deepStrictEqual(fieldsOf(error), {
      _tag: "McpError",
      category: "mcp",
      message: "MCP server 'shop': MCP transport failed",
      server: "shop",
      reason: "connection"
    })
  })

  it("with a status has the advice of the status", () => {
    const ofStatus = (status: number, retryAfter?: string) =>
      ofClient(new McpClientError.HttpError({ status, ...(retryAfter === undefined ? {} : { retryAfter }) }))
    const said = (status: number) => `MCP HTTP status ${status}`
    for (const status of [401, 403])
      assert.deepStrictEqual(ofStatus(status), ofCall(said(status), { reason: "authentication", status, ...final }))
    for (const status of [302, 400, 402, 404, 499])
      assert.deepStrictEqual(ofStatus(status), ofCall(said(status), { reason: "protocol", status, ...final }))
    for (const status of [408, 425, 429, 500, 503]) {
      assert.deepStrictEqual(ofStatus(status), ofCall(said(status), { reason: "connection", status }))
      assert.deepStrictEqual(
        ofStatus(status, "7"),
        ofCall(said(status), { reason: "connection", status, isRetryable: true, wait: 7000 })
      )
    }
    assert.deepStrictEqual(
      ofStatus(503, "0"),
      ofCall(said(503), { reason: "connection", status: 503, isRetryable: true, wait: 1 })
    )
    assert.deepStrictEqual(
      ofStatus(503, "Thu, 01 Jan 1970 00:00:05 GMT"),
      ofCall(said(503), { reason: "connection", status: 503, isRetryable: true, wait: 5000 })
    )
  })

  it("of the protocol has the advice of its code", () => {
    const ofCode = (code?: number) =>
      ofClient(new McpClientError.ProtocolError({ description: "no", ...(code === undefined ? {} : { code }) }))
    assert.deepStrictEqual(ofCode(), ofCall("no", { reason: "protocol" }))
    assert.deepStrictEqual(ofCode(-32_603), ofCall("no (code -32603)", { reason: "protocol", rpcCode: -32_603 }))
    for (const code of [-32_600, -32_601])
      assert.deepStrictEqual(ofCode(code), ofCall(`no (code ${code})`, { reason: "protocol", rpcCode: code, ...final }))
    assert.deepStrictEqual(
      ofCode(-32_602),
      ofCall("no (code -32602)", { reason: "protocol", rpcCode: -32_602, isRetryable: false, recovery: "repair" })
    )
  })
})

it("a failure of the tool has its words, and is mended if they say that the arguments are wrong", () => {
  assert.deepStrictEqual(fieldsOf(Failure.fromResult(where, "no s3cret")), ofCall("no <redacted>", { reason: "tool" }))
  assert.deepStrictEqual(
    fieldsOf(Failure.fromResult(where, "")),
    ofCall("it failed and does not say why", { reason: "tool" })
  )
  const words = "MCP error -32602: Invalid arguments"
  assert.deepStrictEqual(
    fieldsOf(Failure.fromResult(where, words)),
    ofCall(words, { reason: "tool", isRetryable: false, recovery: "repair" })
  )
  for (const other of [`so: ${words}`, "MCP error -32603"])
    assert.deepStrictEqual(fieldsOf(Failure.fromResult(where, other)), ofCall(other, { reason: "tool" }))
})

it("a call that needs an answer, a tool that is not pinned and a result that does not fit say so", () => {
  assert.deepStrictEqual(
    fieldsOf(Failure.withoutInput(where, ["roots/list", "sampling/s3cret"], "no")),
    ofCall("it needs 'roots/list', 'sampling/<redacted>', which this client refuses: no", { reason: "input", ...final })
  )
  assert.deepStrictEqual(
    fieldsOf(Failure.notPinned(where, "new")),
    ofCall("it is new, and new tools are refused", { reason: "changed", ...final })
  )
  assert.deepStrictEqual(
    fieldsOf(Failure.notPinned(where, "changed")),
    ofCall("its definition has changed, and changed tools are refused", { reason: "changed", ...final })
  )
  assert.deepStrictEqual(
    fieldsOf(Failure.misfit(where, "n: a number")),
    ofCall("its result does not fit its own schema: n: a number", { reason: "result", ...final })
  )
})
