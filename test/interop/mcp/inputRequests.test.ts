/** Servers that ask their client for an answer of a person or a model: elicitation, sampling. */
import { assert, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect } from "effect"
import { cached, call, clientOf, fake, inputSchema, refusing, text, url } from "./_support/fakeServer.ts"

const causeOf = (error: unknown) => {
  assert(error instanceof ToolError.ExecutionError && error.cause instanceof Mcp.McpError)
  const { isRetryable, recovery } = error
  return { ...error.cause, message: error.message, isRetryable, recovery }
}

/** A server of a version with sessions that asks its client within the answer to a call, and then answers so. */
const requesting = (method: string, end: (answer: unknown) => object) => {
  let replied: ((answer: unknown) => void) | undefined
  const answers: Array<unknown> = []
  const layer = clientOf(async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 })
    const message = await request.json()
    const { id } = message
    if (message.method === undefined) {
      answers.push(message)
      replied?.(message)
      return new Response(null, { status: 202 })
    }
    const result = (found: object) => Response.json({ jsonrpc: "2.0", id, result: found })
    switch (message.method) {
      case "server/discover":
        return Response.json({ jsonrpc: "2.0", id, error: refusing(-32_601).rpcError })
      case "initialize":
        return result({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "f", version: "1" }
        })
      case "tools/list":
        return result({ tools: [{ name: "sell", inputSchema }] })
      case "tools/call": {
        const events = (message: object) =>
          new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`)
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            replied = (answer) => {
              controller.enqueue(events({ id, ...end(answer) }))
              controller.close()
            }
            controller.enqueue(events({ id: "r1", method, params: {} }))
          }
        })
        return new Response(body, { headers: { "content-type": "text/event-stream" } })
      }
      default:
        return new Response(null, { status: 202 })
    }
  })
  return { answers, layer }
}

for (const method of ["elicitation/create", "sampling/createMessage", "roots/list"]) {
  it.effect(`a server that needs '${method}' is refused, and the failure of its call says so [P1107]`, () =>
    Effect.gen(function* () {
      const ends = [
        [() => ({ result: { isError: true, content: text("there is no answer") } }), "there is no answer"],
        [
          () => ({ error: { code: -32_603, message: "there is no answer" } }),
          "tool 'sell' of MCP server 'shop': there is no answer (code -32603)"
        ]
      ] as const
      for (const [end, said] of ends) {
        const { answers, layer } = requesting(method, end)
        const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url })), layer)
        const cause = causeOf(yield* Effect.flip(call(server, "sell")))
        assert.deepInclude(cause, { reason: "input", isRetryable: false, recovery: "none", tool: "sell" })
        const needs = `it needs '${method}', which this client refuses`
        assert.strictEqual(cause.message, `tool 'sell' of MCP server 'shop': ${needs}: ${said}`)
        assert.deepStrictEqual(answers, [
          { jsonrpc: "2.0", id: "r1", error: { code: -32_601, message: `Unsupported MCP method: ${method}` } }
        ])
      }
      // one that goes on without it succeeds
      const { layer } = requesting(method, () => ({ result: { content: text("sold all the same") } }))
      const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url })), layer)
      assert.deepStrictEqual((yield* call(server, "sell")).content, [{ type: "text", text: "sold all the same" }])
    })
  )
}

it.effect("a result of the newest version that asks for input is refused by the methods that it names [P1107]", () =>
  Effect.gen(function* () {
    const requests = {
      who: {
        method: "elicitation/create",
        params: { mode: "form", message: "Who are you?", requestedSchema: { type: "object", properties: {} } }
      }
    }
    const named = [
      [{ inputRequests: requests }, "elicitation/create"],
      [{ requestState: "s" }, "input"]
    ] as const
    for (const [more, method] of named) {
      const { layer } = fake(
        ({ method: asked }) =>
          asked === "tools/list"
            ? { ...cached, tools: [{ name: "sell", inputSchema }] }
            : { resultType: "input_required", ...more },
        "2026-07-28"
      )
      const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url })), layer)
      const cause = causeOf(yield* Effect.flip(call(server, "sell")))
      assert.deepInclude(cause, { reason: "input", isRetryable: false })
      assert.include(cause.message, `it needs '${method}', which this client refuses`)
    }
  })
)
