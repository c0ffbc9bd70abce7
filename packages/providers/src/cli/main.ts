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

/** Ends once all is written: pipes take their time on some systems. */
const end = (code: number, complaint = ""): void => {
  const said = complaint === "" ? "" : `error: ${complaint}\n`
  process.stdout.write("", () => process.stderr.write(said, () => process.exit(code)))
}

/** Whoever reads this may have read enough, `head` say. */
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(codes.done)
  process.stderr.write(`error: cannot write to standard output: ${message}\n`, () => process.exit(codes.failed))
})
process.stderr.on("error", () => process.exit(codes.failed))

// of what is experimental in Node, and of packages without a type, nobody here wants to know
process.removeAllListeners("warning")

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

const stop = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort())

const running = Effect.runPromiseExit(Effect.provide(run(process.argv.slice(2), version), services), {
  signal: stop.signal
})
// nothing is left to do, and the command has not ended
process.once("beforeExit", () => end(codes.failed, "the module that was named never ends its loading"))
// a policy's module may hold the process: it ends here all the same
void running.then((exit) => {
  if (Exit.isSuccess(exit)) return end(exit.value)
  if (Cause.hasInterruptsOnly(exit.cause)) return end(codes.interrupted)
  return end(codes.failed, `a bug of kintsugi: ${Cause.pretty(exit.cause)}`)
})
