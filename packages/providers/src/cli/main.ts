#!/usr/bin/env node
/** The bin `kintsugi`: the process around the command line. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import process from "node:process"
import { codes, run } from "./program.ts"

const services = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer))
)

/** Whoever reads this may have read enough, `head` say. */
const onUnread = ({ code }: NodeJS.ErrnoException) => process.exit(code === "EPIPE" ? codes.done : codes.failed)
process.stdout.on("error", onUnread)
process.stderr.on("error", onUnread)

// of what is experimental in Node, and of packages without a type, nobody here wants to know
process.removeAllListeners("warning")

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

const stop = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort())

const exit = await Effect.runPromiseExit(Effect.provide(run(process.argv.slice(2), version), services), {
  signal: stop.signal
})
if (Exit.isSuccess(exit)) process.exitCode = exit.value
else if (Cause.hasInterruptsOnly(exit.cause)) process.exitCode = codes.interrupted
else {
  process.stderr.write(`error: a bug of kintsugi: ${Cause.pretty(exit.cause)}\n`)
  process.exitCode = codes.failed
}
// a policy's module may hold the process; what is written to a pipe or a file is written by now
process.exit()
