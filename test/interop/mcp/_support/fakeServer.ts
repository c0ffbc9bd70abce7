/** MCP servers without a network: a fake one that is told what to answer, and ours behind a function. */
import { Tool } from "@kintsugi/core"
import type * as Mcp from "@kintsugi/interop/Mcp"
import * as McpServer from "@kintsugi/interop/McpServer"
import { Effect, Layer, type Schema } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpRouter from "effect/http/HttpRouter"

export const url = "http://mcp.test/mcp"

/** What a server is asked, with the headers that came along. */
export interface Asked {
  readonly id?: number
  readonly method: string
  readonly params: Record<string, unknown>
  readonly headers: Headers
}

/** A result, or a whole response where something is to go wrong; nothing for a notification. */
export type Answer = (asked: Asked) => object | Response | undefined | Promise<object | Response>

/** The client of a server that is this function. */
export const clientOf = (fetch: (request: Request) => Promise<Response>) =>
  Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, (input, init) => fetch(new Request(input, init)))
  )

export const refusing = (code: number, message = "refused") => ({ rpcError: { code, message } })

/** What the newest version wants in results that may be kept. */
export const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" }

/** A server of this version that answers `initialize` with it, and everything else as it is told. */
export const fake = (answer: Answer, version = "2025-11-25", get = () => new Response(null, { status: 405 })) => {
  const asked: Array<Asked> = []
  const layer = clientOf(async (request) => {
    if (request.method !== "POST") return get()
    const { id, method, params = {} } = await request.json()
    asked.push({ id, method, params, headers: request.headers })
    const found =
      method === "server/discover"
        ? version === "2026-07-28"
          ? { ...cached, supportedVersions: [version], capabilities: { tools: {} } }
          : refusing(-32_601, "Method not found")
        : method === "initialize"
          ? { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: "fake", version: "1" } }
          : await answer({ id, method, params, headers: request.headers })
    if (found instanceof Response) return found
    if (id === undefined || found === undefined) return new Response(null, { status: 202 })
    const body = "rpcError" in found ? { error: found.rpcError } : { result: found }
    return Response.json({ jsonrpc: "2.0", id, ...body })
  })
  return { asked, layer }
}

export const inputSchema = { type: "object", properties: { n: { type: "number" } } }

/** A server with these tools, of which each call is answered so. */
export const withTools = (tools: ReadonlyArray<object>, call: Answer = () => ({ content: [] }), version?: string) =>
  fake(
    (asked) => (asked.method === "tools/list" ? { tools } : asked.method === "tools/call" ? call(asked) : undefined),
    version
  )

export const text = (value: string) => [{ type: "text", text: value }]

/** Our server, and the client that reaches it. */
export const ours = (options: Omit<Parameters<typeof McpServer.http<Tool.AnyTool>>[0], "path" | "name" | "version">) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(
          // what these tools need is in no type here: they need nothing
          McpServer.http({ name: "ours", version: "1", path: "/mcp", ...options }) as Layer.Layer<
            never,
            never,
            HttpRouter.HttpRouter
          >,
          { disableLogger: true }
        )
      ),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) => clientOf((request) => handler(request))
  )

export const named = (tools: ReadonlyArray<Mcp.McpTool>, name: string): Mcp.McpTool => {
  const tool = tools.find((tool) => tool.name === name)
  if (tool === undefined) throw new Error(`there is no tool '${name}' among ${tools.map(({ name }) => name).join()}`)
  return tool
}

export const call = (server: Mcp.McpConnection, name: string, params: Schema.Json = {}) =>
  Effect.flatMap(server.tools, (tools) => Tool.call(named(tools, name), params))
