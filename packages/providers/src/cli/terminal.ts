/** What commands say, and where: results on standard output, all else on standard error. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import { styleText } from "node:util"

/** A result, as it is. */
export const print = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.orDie(Stream.run(Stream.succeed(text), stdio.stdout())))

/** A line about what was done, is missing, or went wrong. */
export const remark = (line: string) =>
  Stdio.Stdio.use((stdio) => Effect.orDie(Stream.run(Stream.succeed(`${harmless(line)}\n`), stdio.stderr())))

/** What comes from a file may hold anything; a terminal obeys control characters. */
export const harmless = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (found) => (found === "\n" || found === "\t" ? found : "\ufffd"))

/** Emphasis, on terminals that show colours. */
export const emphasis = Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
  canColor ? (text: string) => styleText("bold", text, { validateStream: false }) : (text: string) => text
)
