/** The output of commands: results on standard output, all else on standard error. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import { styleText } from "node:util"
import { visible } from "../text/Escape.ts"

/** A result, as it is. */
export const print = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.orDie(Stream.run(Stream.succeed(text), stdio.stdout())))

/** A line about what was done, is missing, or went wrong. It may quote files, and a terminal obeys what they hold. */
export const remark = (line: string) =>
  Stdio.Stdio.use((stdio) => Effect.orDie(Stream.run(Stream.succeed(`${visible(line)}\n`), stdio.stderr())))

/** Emphasis, on terminals that show colours. */
export const emphasis = Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
  canColor ? (text: string) => styleText("bold", text, { validateStream: false }) : (text: string) => text
)
