/** Official MCP clients against our server. */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@kintsugi/interop/McpServer"
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Deferred, Effect, type Scope } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { served, started, stopped } from "./mcp/desk.ts"
import { node, program } from "./mcp/playing.ts"

const identity = { name: "judge", version: "1.0.0" }

/** Our server at an address that only this process knows. */
const handler = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => HttpRouter.toWebHandler(McpServer.http({ ...served, path: "/mcp" }), { disableLogger: true })),
    ({ dispose }) => Effect.promise(dispose)
  ),
  ({ handler }) =>
    async (input: string | URL, init?: RequestInit) =>
      handler(new Request(input, init))
)

const address = new URL("http://desk.test/mcp")

const connected = <C extends { close: () => Promise<void> }>(
  client: C,
  connect: (client: C) => Promise<void>
): Effect.Effect<C, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => connect(client).then(() => client)),
    () => Effect.promise(() => client.close())
  )

const overStdio = Effect.suspend(() =>
  connected(new Client(identity), (client) =>
    client.connect(new StdioClientTransport({ command: node, args: [program("deskOverStdio.ts")] }))
  )
)

const overHttp = Effect.flatMap(handler, (fetch) =>
  connected(new Client(identity), (client) =>
    // the SDK's own types do not fit each other under exactOptionalPropertyTypes
    client.connect(new StreamableHTTPClientTransport(address, { fetch }) as Parameters<Client["connect"]>[0])
  )
)

type ToolClient = Pick<Client, "listTools" | "callTool">

const use = (client: ToolClient) =>
  Effect.gen(function* () {
    const { tools } = yield* Effect.promise(() => client.listTools())
    const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]))
    assert.hasAllKeys(byName, ["add", "add-softly", "wait", "count", "shout"])
    assert.deepInclude(byName["add"]?.inputSchema, { type: "object", required: ["a", "b"] })
    assert.deepInclude(byName["add"]?.annotations, { readOnlyHint: true, destructiveHint: false })
    assert.deepInclude(byName["add-softly"]?.annotations, { readOnlyHint: false, idempotentHint: true })
    assert.deepInclude(byName["wait"]?.annotations, { destructiveHint: true, idempotentHint: false })
    assert.strictEqual(byName["count"]?.annotations, undefined)
    const call = (name: string, args: Record<string, unknown> = {}) =>
      Effect.promise(() => client.callTool({ name, arguments: args }))
    const sum = yield* call("add", { a: "1", b: 2 })
    assert.deepInclude(sum, { structuredContent: { sum: 3 }, content: [{ type: "text", text: '{"sum":3}' }] })
    const shouted = yield* call("shout", { input: "hello" })
    assert.deepInclude(shouted, { content: [{ type: "text", text: "HELLO" }] })
    const error = (text: string) => ({ isError: true, content: [{ type: "text", text }] })
    assert.deepInclude(yield* call("add", { a: 99, b: 2 }), error("more than 100"))
    assert.deepInclude(yield* call("add-softly", { a: 99 }), error("use smaller numbers: more than 100"))
    const misfit = yield* call("add", { a: "x" })
    assert.strictEqual(misfit.isError, true)
    assert.match(JSON.stringify(misfit.content), /a: Expected number.*b: Missing key/)
  })

describe("our server", { timeout: 30_000 }, () => {
  it.live("serves tools and agents over stdio, with their hints; failures are results with isError [P1107]", () =>
    Effect.gen(function* () {
      const client = yield* overStdio
      assert.deepInclude(client.getServerVersion(), { name: "desk", version: "1.2.3" })
      assert.strictEqual(client.getInstructions(), "Add first.")
      const odd: Array<unknown> = []
      Object.assign(client, { onerror: (error: unknown) => odd.push(error) })
      yield* use(client)
      // what the tools log is no message
      yield* Effect.promise(() => client.callTool({ name: "count", arguments: {} }))
      assert.deepStrictEqual(odd, [])
    })
  )

  it.live("serves them over streamable HTTP too [P1107]", () => Effect.flatMap(overHttp, use))

  it.live("speaks the newest version of the protocol with a client that knows it [P1107]", () =>
    Effect.gen(function* () {
      const fetch = yield* handler
      const client = yield* connected(new NewClient(identity, { versionNegotiation: { mode: "auto" } }), (client) =>
        client.connect(new NewHttp(address, { fetch }))
      )
      assert.strictEqual(client.getNegotiatedProtocolVersion(), "2026-07-28")
      yield* use(client as ToolClient)
    })
  )

  it.live("a call reports its progress, and is interrupted when the client cancels it [P1107]", () =>
    Effect.gen(function* () {
      const client = yield* overHttp
      const heard: Array<unknown> = []
      yield* Effect.promise(() =>
        client.callTool({ name: "count", arguments: {} }, undefined, { onprogress: (progress) => heard.push(progress) })
      )
      assert.deepStrictEqual(heard, [{ progress: 1, total: 2, message: "half" }])
      const cancelling = new AbortController()
      const waiting = client.callTool({ name: "wait", arguments: {} }, undefined, { signal: cancelling.signal })
      const ended = waiting.then(
        () => "an answer",
        () => "cancelled"
      )
      yield* Deferred.await(started)
      cancelling.abort()
      assert.strictEqual(yield* Effect.promise(() => ended), "cancelled")
      yield* Deferred.await(stopped)
    })
  )
})
