/** The command line as a whole. It always ends with an exit code. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stdio from "effect/Stdio"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Eval from "./eval.ts"
import * as Explain from "./explain.ts"
import * as Mcp from "./mcp.ts"
import * as Report from "./report.ts"
import * as Serve from "./serve.ts"
import * as Stats from "./stats.ts"
import * as Test from "./test.ts"
import { Failed, Misused } from "./failure.ts"
import { print, remark } from "./terminal.ts"
import { visible } from "../text/Escape.ts"

/** The exit codes of the commands. */
export const codes = { done: 0, failed: 1, misused: 2, interrupted: 130 } as const

const kintsugi = Command.make("kintsugi").pipe(
  Command.withDescription(
    "Shows runs and policies of Kintsugi. Exit codes: 0 it is done, 1 it cannot be done, 2 it was asked in a way that makes no sense"
  ),
  Command.withSubcommands([
    Report.command,
    Test.command,
    Explain.command,
    Stats.command,
    Eval.command,
    Mcp.command,
    Serve.command
  ])
)

/** Prints help that was asked for to standard output, and complaints to standard error. */
const presenter = Layer.effect(
  CliOutput.Presenter,
  Effect.gen(function* () {
    const stdio = yield* Stdio.Stdio
    const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
    const help = CliOutput.defaultFormatter({ colors: canColor })
    const plain = CliOutput.defaultFormatter({ colors: false })
    const present = (event: CliOutput.Presenter.Event) => {
      switch (event._tag) {
        case "Version":
          return print(`${event.version}\n`)
        case "Help":
          return event.reason === "Requested"
            ? print(`${help.formatHelpDoc(event.helpDoc)}\n`)
            : remark(plain.formatHelpDoc(event.helpDoc))
        case "InvalidInvocation":
          return remark(
            [
              ...event.errors.map(({ message }) => `error: ${message}`),
              `(${event.commandPath.join(" ")} --help explains it)`
            ].join("\n")
          )
      }
    }
    return { present: (event) => Effect.provideService(present(event), Stdio.Stdio, stdio) }
  })
)

/** What the modules of users log may quote a model or a server, and goes to standard error. */
const logger = Logger.withConsoleError(Logger.map(Logger.formatLogFmt, visible))

const surroundings = Layer.mergeAll(
  Logger.layer([logger]),
  Layer.provideMerge(presenter, TerminalCapabilities.layer),
  // without the flags `--wizard` and `--log-level`, because no command prompts or logs
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
)

/** Runs a command line, and gives its exit code. A defect stays a defect, because it is a bug. */
export const run = (
  parameters: ReadonlyArray<string>,
  version: string
): Effect.Effect<number, never, Command.Environment> =>
  Command.runWith(kintsugi, { version })(parameters).pipe(
    Effect.as(codes.done),
    Effect.catch((error) => {
      const reported = (code: number) => Effect.as(remark(`error: ${error.message}`), code)
      if (error instanceof Failed) return reported(codes.failed)
      if (error instanceof Misused) return reported(codes.misused)
      // the presenter has shown this error already
      if (CliError.isCliError(error)) return Effect.succeed(codes.misused)
      return Effect.die(error)
    }),
    Effect.provide(surroundings)
  )
