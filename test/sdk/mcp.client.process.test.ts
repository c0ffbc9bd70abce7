/** Our MCP client against the official servers. */
import { assert, describe, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import * as Transport from "@kintsugi/providers/Transport"
import { Deferred, Effect, Fiber, Redacted, Stream, Scope } from "effect"
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { call, everything, failed, journal, named, node, program, spawner } from "./mcp/playing.ts"

const overStdio = Mcp.stdio({ command: node, args: [everything, "stdio"] })

/** A port that is free just now. */
const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** The reference server over streamable HTTP, until the scope ends. */
const overHttp = Effect.gen(function* () {
  const port = yield* freePort
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(node, [everything, "streamableHttp"], { env: { ...process.env, PORT: String(port) }, stdio: "pipe" })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )
  yield* Effect.callback<void>((resume) => {
    child.stderr.on("data", (data: Buffer) => {
      if (data.toString().includes("listening")) resume(Effect.void)
    })
  })
  return Mcp.http({ url: `http://127.0.0.1:${port}/mcp` })
})

/** What both transports give. */
const usesEverything = (server: Mcp.McpConnection) =>
  Effect.gen(function* () {
    assert.strictEqual(server.version, "2025-11-25")
    assert.include(server.instructions, "Everything")
    const tools = yield* server.tools
    const effects = Object.fromEntries(tools.map((tool) => [tool.name, tool.definition.sideEffects]))
    assert.deepInclude(effects, {
      echo: "none",
      "gzip-file-as-resource": "idempotent",
      "toggle-simulated-logging": "unsafe"
    })
    const text = Effect.fnUntraced(function* (name: string, params: Parameters<typeof call>[2]) {
      const tool = named(tools, name)
      return yield* tool.definition.encode(yield* Tool.call(tool, params ?? null))
    })
    assert.strictEqual(yield* text("echo", { message: "grüße 🙂" }), "Echo: grüße 🙂")
    // coerced to the server's own schema before it is sent
    assert.strictEqual(yield* text("get-sum", '{"a": "1", "b": 2,}'), "The sum of 1 and 2 is 3.")
    const weather = yield* call(server, "get-structured-content", { location: "Chicago" })
    assert.hasAllKeys(weather.structured, ["temperature", "conditions", "humidity"])
    const { content } = yield* call(server, "get-tiny-image")
    assert.deepInclude(content[1], { type: "image", mediaType: "image/png" })
    assert.match(yield* text("get-tiny-image", {}), /\[image, image\/png, \d+ bytes, not shown\]/)
    const links = yield* call(server, "get-resource-links", { count: 1 })
    assert.deepInclude(links.content[1], { type: "file", url: "demo://resource/dynamic/blob/1" })
    const embedded = yield* call(server, "get-resource-reference", { resourceType: "Text", resourceId: 1 })
    assert.match(JSON.stringify(embedded.content[1]), /resource demo:\/\/resource\/dynamic\/text\/1/)
  })

describe("the reference server", { timeout: 30_000 }, () => {
  it.live("its tools are ours over stdio, with their hints, and every kind of content arrives [P1107]", () =>
    Effect.flatMap(Mcp.connect("everything", overStdio), usesEverything).pipe(Effect.provide(spawner))
  )

  it.live("its tools are ours over streamable HTTP too [P1107]", () =>
    Effect.gen(function* () {
      const way = yield* overHttp
      yield* Effect.flatMap(Mcp.connect("everything", way), usesEverything)
    }).pipe(Effect.provide(Transport.layerFetch))
  )

  it.live("the older versions of the protocol are spoken as well [P1107]", () =>
    Effect.forEach(
      ["2025-06-18", "2025-03-26", "2024-11-05"] as const,
      (version) =>
        Effect.gen(function* () {
          const server = yield* Mcp.connect("everything", overStdio, { versions: [version] })
          assert.strictEqual(server.version, version)
          assert.deepStrictEqual((yield* call(server, "echo", { message: "old" })).content, [
            { type: "text", text: "Echo: old" }
          ])
        }),
      { concurrency: "unbounded", discard: true }
    ).pipe(Effect.provide(spawner))
  )
})

const shop = (log: string) =>
  Mcp.connect(
    "shop",
    Mcp.stdio({
      command: node,
      args: [program("shop.ts")],
      env: { SHOP_LOG: log, SHOP_TOKEN: Redacted.make("tok-1234-abcd-5678") }
    })
  )

describe("a server of the official SDK", { timeout: 30_000 }, () => {
  it.live("a failure that arrives as a success is of category mcp, and repeats no secret [P1107]", () =>
    Effect.gen(function* () {
      const server = yield* shop((yield* journal).path)
      const soldOut = yield* failed(call(server, "sell", { item: "bread" }))
      assert(soldOut instanceof ToolError.ExecutionError)
      assert.deepInclude(soldOut, { tool: "sell", kind: "mcp-tool", category: "mcp" })
      assert.strictEqual(soldOut.message, "tool 'sell' of MCP server 'shop': bread is sold out")
      const unknown = yield* failed(call(server, "sell", { item: "gold" }))
      assert.strictEqual(unknown.message, "tool 'sell' of MCP server 'shop': there is no gold, said <redacted>")
      assert(unknown.cause instanceof Mcp.McpError)
      assert.deepInclude(unknown.cause, { server: "shop", tool: "sell", reason: "tool" })
    }).pipe(Effect.provide(spawner))
  )

  it.live("the interruption of a call cancels it at the server, and so does its time limit [P1107]", () =>
    Effect.gen(function* () {
      const { path, until } = yield* journal
      const server = yield* shop(path)
      const waiting = yield* Effect.forkChild(call(server, "wait"))
      yield* until("waiting")
      yield* Fiber.interrupt(waiting)
      yield* until("cancelled")
      const hasty = yield* journal
      const limited = yield* Mcp.connect(
        "shop",
        Mcp.stdio({ command: node, args: [program("shop.ts")], env: { SHOP_LOG: hasty.path } }),
        { timeout: "300 millis" }
      )
      const late = yield* failed(call(limited, "wait"))
      assert.deepInclude(late, { category: "mcp", isRetryable: true })
      assert(late.cause instanceof Mcp.McpError)
      assert.strictEqual(late.cause.reason, "timeout")
      yield* hasty.until("cancelled")
    }).pipe(Effect.provide(spawner))
  )

  it.live("a process that exits fails its call, and the next call restarts it; the scope ends it [P1107]", () =>
    Effect.gen(function* () {
      const { lines, path } = yield* journal
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* shop(path)
          const gone = yield* failed(call(server, "leave"))
          assert.deepInclude(gone, { tool: "leave", category: "mcp", isRetryable: true })
          assert(gone.cause instanceof Mcp.McpError)
          assert.strictEqual(gone.cause.reason, "connection")
          assert.match(gone.message, /the shop is on fire/)
          assert.deepStrictEqual((yield* call(server, "count")).content, [{ type: "text", text: "2" }])
        })
      )
      assert.include(yield* lines, "closed")
    }).pipe(Effect.provide(spawner))
  )

  it.live("the client gets changes of the list, and the progress of a call [P1107]", () =>
    Effect.gen(function* () {
      const server = yield* shop((yield* journal).path)
      const listening = yield* Deferred.make<void>()
      const changed = yield* server.changes.pipe(
        Stream.onStart(Deferred.succeed(listening, undefined)),
        Stream.take(1),
        Stream.runHead,
        Effect.forkChild
      )
      yield* Deferred.await(listening)
      yield* Effect.yieldNow
      yield* call(server, "restock")
      const tools = yield* Effect.flatMap(Fiber.join(changed), Effect.fromOption)
      assert.include(
        tools.map(({ name }) => name),
        "milk"
      )
      const heard: Array<unknown> = []
      const { definition } = named(tools, "count")
      yield* definition.run(
        {},
        {
          attempt: 1,
          callId: "c",
          idempotencyKey: "c",
          agent: "a",
          runScope: Scope.makeUnsafe(),
          progress: (data) => Effect.sync(() => heard.push(data))
        }
      )
      assert.deepStrictEqual(heard, [
        { progress: 1, total: 2, message: "step 1" },
        { progress: 2, total: 2, message: "step 2" }
      ])
    }).pipe(Effect.provide(spawner))
  )

  it.live("a program that cannot be started is named, and fails at once [P1107]", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Mcp.connect("missing", Mcp.stdio({ command: "/no/such/program" })))
      assert.deepInclude(error, { tool: "missing", category: "mcp" })
      assert.match(error.message, /^MCP server 'missing': Cannot spawn MCP server/)
    }).pipe(Effect.provide(spawner))
  )
})
