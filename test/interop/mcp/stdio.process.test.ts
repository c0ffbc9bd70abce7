/** Programs as MCP servers, without a package of theirs. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as Mcp from "@kintsugi/interop/Mcp"
import { ToolError } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { Clock, Effect, Layer, Redacted } from "effect"
import { call } from "./_support/fakeServer.ts"

const spawner = NodeChildProcessSpawner.layer.pipe(Layer.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))

/** A program that answers line by line; `onDiscover` is what it does with a question that it does not know. */
const program = (onDiscover: string) => `
const tell = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
const inputSchema = { type: "object" }
let initialized = 0
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === "server/discover") { ${onDiscover} }
  if (method === "initialize") {
    initialized++
    // its own version, for every requested one
    tell({ id, result: { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } } })
  }
  if (method === "tools/list") tell({ id, result: { tools: [{ name: "env", inputSchema }] } })
  if (method === "tools/call") {
    console.log("looking around")
    tell({ id, result: { content: [{ type: "text", text: JSON.stringify([initialized, process.env]) }] } })
  }
})`

const connect = (onDiscover: string) =>
  Mcp.connect(
    "program",
    Mcp.stdio({
      command: process.execPath,
      args: ["-e", program(onDiscover)],
      env: { TOKEN: Redacted.make("tok-1234-abcd-5678"), PLAIN: "plain" }
    })
  )

describe("a program", { timeout: 30_000 }, () => {
  it.live("that exits at a request of the newest version is restarted and gets one of an older version [P1107]", () =>
    Effect.gen(function* () {
      for (const onDiscover of ["process.exit(1)", "tell({ id, error: { code: -32601, message: 'unknown' } })"]) {
        const server = yield* connect(onDiscover)
        assert.strictEqual(server.version, "2025-03-26")
        const { content } = yield* call(server, "env")
        const [part] = content
        assert(part?.type === "text")
        const [initialized, env] = JSON.parse(part.text)
        // the version that it named was taken without asking again
        assert.strictEqual(initialized, 1)
        assert.deepInclude(env, { TOKEN: "<redacted>", PLAIN: "plain", PATH: process.env["PATH"] })
        assert.notProperty(env, "KINTSUGI_TEST_SECRET")
      }
    }).pipe(
      Effect.provide(spawner),
      Effect.ensuring(Effect.sync(() => delete process.env["KINTSUGI_TEST_SECRET"])),
      (effect) =>
        Effect.suspend(() => {
          process.env["KINTSUGI_TEST_SECRET"] = "not for strangers"
          return effect
        })
    )
  )

  it.live("that writes a secret at last, as a whole or cut in two, is quoted without it [P202 P1107]", () =>
    Effect.gen(function* () {
      const last = "console.error(process.env.TOKEN + process.argv[1] + ' ' + 'y'.repeat(480)); process.exit(1)"
      const way = Mcp.stdio({
        command: process.execPath,
        args: ["-e", last, Redacted.make("abcdefghijkl")],
        env: { TOKEN: Redacted.make("correcthorsebatterystaple") }
      })
      const error = yield* Effect.flip(Mcp.connect("program", way))
      assert.include(error.message, "the last text that it wrote is: y")
      assert.notMatch(error.message, /stap|ijkl/)
      const short = Mcp.stdio({
        command: process.execPath,
        args: ["-e", "console.error('no ' + process.argv[1]); process.exit(1)", Redacted.make("abc-DEF-0815")]
      })
      assert.include(
        (yield* Effect.flip(Mcp.connect("program", short))).message,
        "the last text that it wrote is: no <redacted>"
      )
    }).pipe(Effect.provide(spawner))
  )

  const noisy = `
for (const line of ["[INFO] starting", '{"level":"info"}', "[1,2]", "42", '"ready"', "null", "{", "", '{"jsonrpc":"2.0"}'])
  console.log(line)
const tell = (result, id) => process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + "}\\n")
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  console.log('[DEBUG] got "' + method + '"')
  if (method === "server/discover") console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "?" } }))
  if (method === "initialize") tell('{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}', id)
  if (method === "tools/list") tell('{"tools":[{"name":"dig","inputSchema":{"type":"object"}}]}', id)
  if (method === "tools/call") {
    const { levels } = params.arguments
    if (levels === 0) {
      console.log("[FATAL] out of gold " + process.env.TOKEN)
      console.error("the mine is closed")
      process.exit(1)
    }
    tell('{"content":[],"structuredContent":' + '{"a":'.repeat(levels) + "1" + "}".repeat(levels) + "}", id)
  }
})`

  const connectNoisy = Mcp.connect(
    "mine",
    Mcp.stdio({
      command: process.execPath,
      args: ["-e", noisy],
      env: { TOKEN: Redacted.make("correcthorsebatterystaple") }
    })
  )

  it.live(
    "that prints lines that are not messages is connected, and the failure quotes them when it exits [P1386]",
    () =>
      Effect.gen(function* () {
        const server = yield* connectNoisy
        assert.deepStrictEqual((yield* call(server, "dig", { levels: 1 })).structured, { a: 1 })
        const error = yield* Effect.flip(call(server, "dig", { levels: 0 }))
        assert.include(error.message, "the last text that it wrote is: the mine is closed")
        assert.include(error.message, "it printed a line that is not a message: ")
        assert.include(error.message, "[FATAL] out of gold <redacted>")
        assert.include(error.message, '{"level":"info"}')
        // the next call starts it anew
        assert.deepStrictEqual((yield* call(server, "dig", { levels: 2 })).structured, { a: { a: 1 } })
      }).pipe(Effect.provide(spawner))
  )

  it.live("that answers too deeply fails that call alone [P1391 P1393]", () =>
    Effect.gen(function* () {
      const server = yield* connectNoisy
      for (const levels of [6000, 200_000]) {
        const error = yield* Effect.flip(call(server, "dig", { levels }))
        assert(error instanceof ToolError.ExecutionError && error.cause instanceof DoorError.InputTooLargeError)
        assert.deepInclude(error.cause, { bound: "depth", limit: 128 })
      }
      assert.deepStrictEqual((yield* call(server, "dig", { levels: 1 })).structured, { a: 1 })
    }).pipe(Effect.provide(spawner))
  )

  it.live(
    "that stays silent fails within the time limit of connecting, and the failure quotes its output [P1386]",
    () =>
      Effect.gen(function* () {
        // it does not end when its input does
        const mute = `console.log("[INFO] thinking"); setInterval(() => {}, 1000)`
        const begin = yield* Clock.currentTimeMillis
        const way = Mcp.stdio({ command: process.execPath, args: ["-e", mute] })
        const error = yield* Effect.flip(Mcp.connect("mute", way, { connectTimeout: "2 seconds" }))
        const took = (yield* Clock.currentTimeMillis) - begin
        assert.isBelow(took, 4000)
        assert.include(error.message, "it printed a line that is not a message: [INFO] thinking")
        assert(error instanceof ToolError.ExecutionError && error.cause instanceof Mcp.McpError)
        assert.strictEqual(error.cause.reason, "timeout")
      }).pipe(Effect.provide(spawner))
  )
})
