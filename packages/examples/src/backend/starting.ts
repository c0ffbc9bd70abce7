/** Starts a program of this package: `--help` is answered, and a failure is one line. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { Cause, Effect, Exit, Runtime } from "effect"
import process from "node:process"

/** A program that a signal has stopped has not failed. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

/** The failure in a line. A bug keeps its stack. */
const worded = (cause: Cause.Cause<unknown>): string =>
  Cause.hasFails(cause) ? messageOf(Cause.squash(cause)).replaceAll(/\s+/g, " ") : Cause.pretty(cause)

/** A server that cannot listen has no message of its own: only its cause says why. */
const messageOf = (failure: unknown): string =>
  ErrorCause.messageOf(failure) || (failure instanceof Error ? ErrorCause.messageOf(failure.cause) : "")

export const start = <E>(help: string, program: Effect.Effect<unknown, E>): void => {
  const [option] = process.argv.slice(2)
  if (option !== undefined) {
    const isHelp = option === "--help"
    process[isHelp ? "stdout" : "stderr"].write(isHelp ? help : `error: there is no option '${option}', see --help\n`)
    process.exitCode = isHelp ? 0 : 2
    return
  }
  const reporting = Effect.tapCause(program, (cause) =>
    Effect.sync(() => {
      if (!Cause.hasInterruptsOnly(cause)) process.stderr.write(`error: ${worded(cause)}\n`)
    })
  )
  NodeRuntime.runMain(reporting, { disableErrorReporting: true, teardown })
}
