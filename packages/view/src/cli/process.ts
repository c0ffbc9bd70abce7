/** Runs the command line in the process of the bin, and ends the process. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Clock from "effect/Clock"
import { readFileSync, writeSync } from "node:fs"
import process from "node:process"
import * as Guest from "./guest.ts"
import { Preparation } from "./loading.ts"
import { codes, run } from "./program.ts"
import { visible } from "../text/Escape.ts"

const services = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer))
)

/** Whether this module is ending the process. */
let isEnding = false

/** Ends the process when all output is written, because writing to a pipe takes time on some systems. */
const end = (code: number, complaint = ""): void => {
  const said = complaint === "" ? "" : `error: ${visible(complaint)}\n`
  process.stdout.write("", () => process.stderr.write(said, () => exit(code)))
}

const exit = (code: number): void => {
  isEnding = true
  process.exit(code)
}

/** Runs the command of this process, and ends the process. */
export const start = (): void => {
  // a reader such as `head` may close the pipe early
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") exit(codes.done)
    process.stderr.write(`error: cannot write to standard output: ${message}\n`, () => exit(codes.failed))
  })
  process.stderr.on("error", () => exit(codes.failed))

  // Node's warnings about experimental features and untyped packages do not help users of this program
  process.removeAllListeners("warning")

  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  )

  const stop = new AbortController()
  for (const signal of Guest.signals) process.once(signal, () => stop.abort())

  const command = run(process.argv.slice(2), version).pipe(
    Effect.provideService(Preparation, Guest.prepare),
    Effect.provideServiceEffect(Clock.Clock, Guest.clock),
    Effect.provide(services)
  )
  const running = Effect.runPromiseExit(command, { signal: stop.signal })
  // the event loop is empty although the command has not ended
  process.once("beforeExit", () => end(codes.failed, "the module that was named never ends its loading"))
  process.once("exit", () => {
    if (isEnding) return
    process.exitCode = codes.failed
    writeSync(process.stderr.fd, "error: the module that was named has ended the process\n")
  })
  // a module of the user may keep the process alive, so it is ended here
  void running.then((exit) => {
    if (Exit.isSuccess(exit)) return end(exit.value)
    if (Cause.hasInterruptsOnly(exit.cause)) return end(codes.interrupted)
    return end(codes.failed, `a bug of kintsugi: ${Cause.pretty(exit.cause)}`)
  })
}
