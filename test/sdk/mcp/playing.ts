/** Processes for the tests of MCP. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import type * as Mcp from "@kintsugi/interop/Mcp"
import type { ExecutionError } from "@kintsugi/core/ToolError"
import { Tool } from "@kintsugi/core"
import { Effect, Layer, type Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** What starts processes. */
export const spawner = NodeChildProcessSpawner.layer.pipe(
  Layer.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
)

export const everything = join(
  import.meta.dirname,
  "../node_modules/@modelcontextprotocol/server-everything/dist/index.js"
)

export const program = (name: string): string => join(import.meta.dirname, name)

export const node = process.execPath

/** A file that a program writes to, and what stands there; it is removed when the scope closes. */
export const journal = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-mcp-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const path = join(folder, "journal")
  writeFileSync(path, "")
  const lines = Effect.sync(() => readFileSync(path, "utf8").trim().split("\n"))
  /** Waits until a line stands there. */
  const until = (line: string) =>
    Effect.callback<void>((resume) => {
      const look = () => {
        if (!readFileSync(path, "utf8").split("\n").includes(line)) return
        watcher.close()
        resume(Effect.void)
      }
      const watcher = watch(path, look)
      look()
      return Effect.sync(() => watcher.close())
    })
  return { path, lines, until }
})

export const named = (tools: ReadonlyArray<Mcp.McpTool>, name: string): Mcp.McpTool => {
  const tool = tools.find((tool) => tool.name === name)
  if (tool === undefined) throw new Error(`there is no tool '${name}'`)
  return tool
}

/** Calls a tool of a server that is asked for its tools anew. */
export const call = (server: Mcp.McpConnection, name: string, params: Schema.Json = {}) =>
  Effect.flatMap(server.tools, (tools) => Tool.call(named(tools, name), params))

export const failed = <A>(effect: Effect.Effect<A, unknown, never>): Effect.Effect<ExecutionError> =>
  // what else it fails with does not have these fields, and fails the assertions
  Effect.flip(effect) as Effect.Effect<ExecutionError, never>
