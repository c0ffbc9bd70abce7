/** The output of commands: results go to standard output, and all other texts to standard error. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import { styleText } from "node:util"
import { visible } from "../text/Escape.ts"

/** Prints a result to standard output, unchanged. */
export const print = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.orDie(Stream.run(Stream.succeed(text), stdio.stdout())))

/** Prints a remark to standard error. It may quote a file, so control characters, which a terminal would obey, are made visible. */
export const remark = (line: string) =>
  Stdio.Stdio.use((stdio) => Effect.orDie(Stream.run(Stream.succeed(`${visible(line)}\n`), stdio.stderr())))

/** Marks a text as bold, on terminals that show colours. */
export const emphasis = Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
  canColor ? (text: string) => styleText("bold", text, { validateStream: false }) : (text: string) => text
)
