/** Servers that send what is too deep, too large, or nothing at all. */
import { assert, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect, Exit, Fiber, Logger, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { cached, call, clientOf, fake, inputSchema, named, text, url, withTools } from "./_support/fakeServer.ts"

const connect = (options?: Mcp.Options) => Mcp.connect("shop", Mcp.http({ url }), options)

const deep = (levels: number): Schema.Json => JSON.parse('{"a":'.repeat(levels) + "1" + "}".repeat(levels))

/** The text of an answer: `JSON.stringify` does not reach as deep as these. */
const raw = (body: string, id: number | undefined, isStreamed: boolean) => {
  const message = `{"jsonrpc":"2.0","id":${id},"result":${body}}`
  return isStreamed
    ? new Response(`: hello\nevent: message\ndata: ${message}\n\n`, {
        headers: { "content-type": "text/event-stream" }
      })
    : new Response(message, { headers: { "content-type": "application/json" } })
}

const nested = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels)

const beneath = (error: unknown, tool: string): DoorError.InputTooLargeError => {
  assert(error instanceof ToolError.ExecutionError)
  assert.deepInclude(error, { tool, kind: "mcp-tool", category: "mcp", code: "KINTSUGI-INPUT-TOO-LARGE" })
  assert.deepInclude(error, { isRetryable: false, recovery: "shrink", maxAttempts: 1 })
  assert(error.cause instanceof DoorError.InputTooLargeError)
  return error.cause
}

for (const levels of [129, 6000, 200_000]) {
  for (const isStreamed of [false, true]) {
    it.effect(`data of ${levels} levels, ${isStreamed ? "streamed" : "whole"}, is a typed failure [P1391 P1393]`, () =>
      Effect.gen(function* () {
        const { layer } = withTools([{ name: "sell", inputSchema }], ({ id }) =>
          raw(`{"content":[],"structuredContent":${nested(levels)}}`, id, isStreamed)
        )
        const server = yield* Effect.provide(connect(), layer)
        const cause = beneath(yield* Effect.flip(call(server, "sell")), "sell")
        assert.deepInclude(cause, {
          what: "The data that tool 'sell' of MCP server 'shop' gave",
          bound: "depth",
          limit: 128
        })
      })
    )
  }
}

it.effect("brackets in texts are no levels, and texts that hold deep JSON stay texts [P1391 P1393]", () =>
  Effect.gen(function* () {
    const said = `${"[{".repeat(5000)}\\"quoted\\" \\\\`
    const { layer } = withTools([{ name: "sell", inputSchema }], ({ id, params }) =>
      raw(
        `{"content":[{"type":"text","text":"${said}"},{"type":"text","text":"${"[".repeat(9000)}${"]".repeat(9000)}"}],"structuredContent":{"a":[1]}}`,
        id,
        (params["arguments"] as { readonly n: number }).n === 1
      )
    )
    const server = yield* Effect.provide(connect(), layer)
    const tool = named(yield* server.tools, "sell")
    for (const n of [0, 1]) {
      const result = yield* Tool.call(tool, { n })
      assert.deepStrictEqual(result.structured, { a: [1] })
      const [part] = result.content
      assert(part?.type === "text")
      assert.strictEqual(part.text, JSON.parse(`"${said}"`))
      assert.match(yield* tool.definition.encode(result), /\n\{"a":\[1\]\}$/)
    }
  })
)

const bomb = (size: number) => ({
  type: "object",
  properties: { a: { $ref: "#/$defs/d0" } },
  $defs: Object.fromEntries([
    ...Array.from({ length: size }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` }
      return [`d${index}`, { anyOf: [next, next] }]
    }),
    [`d${size}`, { type: "number" }]
  ])
})

it.effect("a tool whose schema is beyond a bound is left out with a warning, and the others stay [P1391 P1393]", () =>
  Effect.gen(function* () {
    const good = JSON.stringify({ name: "sell", inputSchema })
    const tools = [
      good,
      `{"name":"bomb","inputSchema":${JSON.stringify(bomb(30))}}`,
      `{"name":"deep","inputSchema":{"type":"object","properties":${nested(6000)}}}`,
      `{"name":"deepest","inputSchema":{"type":"object","properties":${nested(200_000)}}}`,
      `{"name":"out","inputSchema":{"type":"object"},"outputSchema":${JSON.stringify(bomb(30))}}`,
      `{"name":"long","inputSchema":{"type":"object","description":"${"x".repeat(300_000)}"}}`
    ]
    for (const isStreamed of [false, true]) {
      const { layer } = fake(({ id, method }) =>
        method === "tools/list" ? raw(`{"tools":[${tools.join()}]}`, id, isStreamed) : { content: text("sold") }
      )
      const warnings: Array<unknown> = []
      const logger = Logger.make<unknown, void>(({ message }) => void warnings.push(message))
      const server = yield* Effect.provide(connect(), layer)
      const admitted = yield* Effect.provide(server.tools, Logger.layer([logger]))
      assert.deepStrictEqual(
        admitted.map(({ name }) => name),
        ["sell"]
      )
      assert.deepStrictEqual((yield* call(server, "sell")).content, [{ type: "text", text: "sold" }])
      const refused = yield* server.refused
      assert.deepStrictEqual(
        refused.map((error) => {
          const { bound, limit, what } = beneath(error, error.tool)
          return [what, bound, limit]
        }),
        [
          ["The input schema of tool 'bomb' of MCP server 'shop'", "nodes", 20_000],
          ["The input schema of tool 'deep' of MCP server 'shop'", "depth", 128],
          ["The input schema of tool 'deepest' of MCP server 'shop'", "depth", 128],
          ["The output schema of tool 'out' of MCP server 'shop'", "nodes", 20_000],
          ["The input schema of tool 'long' of MCP server 'shop'", "bytes", 262_144]
        ]
      )
      assert.deepStrictEqual(
        warnings.flat(),
        refused.map(({ message }) => message)
      )
      const all = yield* Effect.provide(Mcp.toolsOf([server]), Logger.layer([logger]))
      assert.deepStrictEqual(
        all.map(({ name }) => name),
        ["sell"]
      )
    }
  })
)

it.effect("the warning about a tool is one line, and no control of a terminal [P1394]", () =>
  Effect.gen(function* () {
    const name = "sell\u001b]0;x\u0007\nWARN: all is well\u009b2J\u202e"
    const { layer } = withTools([{ name, inputSchema: bomb(30) }], () => ({ content: text("sold") }))
    const warnings: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ message }) => void warnings.push(message))
    const server = yield* Effect.provide(connect(), layer)
    assert.deepStrictEqual(yield* Effect.provide(server.tools, Logger.layer([logger])), [])
    const [warning] = warnings.flat()
    assert.include(warning, "WARN: all is well")
    assert.notMatch(String(warning), /\p{Cc}|\u202e/u)
  })
)

it.effect("a bound is an option: what it admits of schemas and data is kept, and no level more [P1391]", () =>
  Effect.gen(function* () {
    const outputSchema = { type: "object", properties: deep(300) }
    const { layer } = withTools([{ name: "sell", inputSchema, outputSchema }], ({ params }) => ({
      content: [],
      structuredContent: deep(Number((params["arguments"] as { readonly n: number }).n))
    }))
    const usual = yield* Effect.provide(connect(), layer)
    assert.deepStrictEqual(yield* usual.tools, [])
    const far = yield* Effect.provide(connect({ bounds: { depth: 400 } }), layer)
    assert.deepStrictEqual((yield* call(far, "sell", { n: 400 })).structured, deep(400))
    assert.deepInclude(beneath(yield* Effect.flip(call(far, "sell", { n: 401 })), "sell"), { limit: 400 })
    assert.throws(() => connect({ bounds: { depth: 513 } }), /Bounds: depth must be an integer from 1 to 512/)
  })
)

const silent = clientOf(() => new Promise<Response>(() => undefined))

it.effect("connecting to a silent server takes as long as the option admits, in all versions together [P1386]", () =>
  Effect.gen(function* () {
    for (const connectTimeout of ["1 second", "4 seconds", "60 seconds"] as const) {
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.provide(connect({ connectTimeout }), silent)))
      yield* TestClock.adjust(connectTimeout)
      const exit = fiber.pollUnsafe()
      assert(exit !== undefined && Exit.isSuccess(exit), `still connecting after ${connectTimeout}`)
      const error = exit.value
      assert(error.cause instanceof Mcp.McpError)
      assert.deepInclude(error.cause, { reason: "timeout", server: "shop" })
    }
  })
)

it.effect(
  "a server that does not answer the newest version gets a request of an older one within the same time [P1386]",
  () =>
    Effect.gen(function* () {
      let asked = 0
      const client = clientOf(async (request) => {
        asked++
        const { id, method } = await request.json()
        if (method === "server/discover") return new Promise<Response>(() => undefined)
        if (id === undefined) return new Response(null, { status: 202 })
        const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "f", version: "1" } }
        return Response.json({ jsonrpc: "2.0", id, result })
      })
      const fiber = yield* Effect.forkChild(Effect.provide(connect({ connectTimeout: "2 seconds" }), client))
      yield* TestClock.adjust("1 second")
      const server = yield* Fiber.join(fiber)
      assert.strictEqual(server.version, "2025-11-25")
      assert.strictEqual(asked, 3)
    })
)

for (const status of [301, 302, 303, 307, 308, 401, 403]) {
  it.effect(`a server that answers with status ${status} gets one request [P1386]`, () =>
    Effect.gen(function* () {
      let asked = 0
      const client = clientOf(async () => {
        asked++
        return new Response(null, { status, headers: { location: "http://other.test/mcp" } })
      })
      const error = yield* Effect.flip(Effect.provide(connect(), client))
      assert.strictEqual(asked, 1)
      assert.deepInclude(error, { tool: "shop", category: "mcp", isRetryable: false })
      assert(error.cause instanceof Mcp.McpError)
      assert.strictEqual(error.cause.status, status)
    })
  )
}

it.effect("an event without an end is refused before it fills the memory [P1391]", () =>
  Effect.gen(function* () {
    const endless = new TextEncoder().encode(`data: ${"x".repeat(1024 * 1024)}`)
    let sent = 0
    const { layer } = fake(({ method }) => {
      if (method !== "tools/list") return { ...cached }
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent++
          if (sent > 32) return controller.close()
          controller.enqueue(sent === 1 ? endless : endless.subarray(6))
        }
      })
      return new Response(body, { headers: { "content-type": "text/event-stream" } })
    })
    const server = yield* Effect.provide(connect(), layer)
    const error = yield* Effect.flip(server.tools)
    assert.deepInclude(error, { category: "mcp", isRetryable: false })
    assert.include(error.message, "MCP SSE event exceeds maxMessageBytes")
    assert.isBelow(sent, 24)
  })
)
