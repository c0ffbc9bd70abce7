/** Starts an MCP server as a process: Effect's transport, with a listener for the output of the process. */
import type * as Bounds from "@kintsugi/core/Bounds"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpClientError from "effect/ai/McpClientError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Notices } from "./notices.ts"
import { shallow } from "./shallow.ts"

/** The program that is the server, and how to start it. */
export interface StdioOptions {
  /** The program. No shell interprets it. */
  readonly command: string
  /** The arguments. Make secrets `Redacted`; but other programs of the machine can see arguments, unlike `env`. */
  readonly args?: ReadonlyArray<string | Redacted.Redacted>
  /** Environment variables, besides `PATH`, `HOME` and the like. The process inherits no others. Make secrets `Redacted`. */
  readonly env?: Readonly<Record<string, string | Redacted.Redacted>>
  /** The working directory; by default that of this process. */
  readonly cwd?: string
}

/** The names of the variables that the process inherits, because programs need them. None of them holds a credential. */
const needed = `HOME LANG LOGNAME PATH SHELL TERM TMPDIR USER
  APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS PATHEXT PROCESSOR_ARCHITECTURE PROGRAMFILES
  SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE`
// Mutant `/\s/` survives: only empty names more, which no variable has
const inherited = needed.split(/\s+/)

/** The listeners for the output of the process. */
export interface Hearing {
  readonly notices: Notices
  readonly bounds: Bounds.Bounds
  /** Called with text that the process writes to its standard error. */
  readonly wrote: (text: string) => void
  /** Called with a line of the standard output, and its end, that is not a message of the protocol, such as a banner or a log line. */
  readonly printed: (line: string) => void
}

/** Starts the process. The end of the scope stops it. */
export const launch = (
  { args = [], command, cwd, env }: StdioOptions,
  hearing: Hearing
): Effect.Effect<
  McpClient.Transport,
  McpClientError.McpClientError,
  ChildProcessSpawner.ChildProcessSpawner | Scope.Scope
> =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const given = args.map((value) => (Redacted.isRedacted(value) ? String(Redacted.value(value)) : value))
    const process = ChildProcess.make(command, given, {
      env: { ...(yield* environment), ...env },
      // Mutant `false` survives: `undefined` is the folder of this process, too
      ...(cwd === undefined ? {} : { cwd })
    })
    // The version does not matter, because this transport ignores it.
    return yield* McpClient.stdio({ command: process, protocol: McpProtocol.v2025_11_25 }).pipe(
      Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, overheard(spawner, hearing))
    )
  })

const environment: Effect.Effect<Record<string, string>> = Effect.suspend(() => {
  const provider = ConfigProvider.fromEnv()
  const look = (name: string) =>
    Effect.matchEffect(provider.load([name]), {
      onFailure: () => Effect.succeed([]),
      onSuccess: (node) => Effect.succeed(node?.value === undefined ? [] : [[name, node.value] as const])
    })
  return Effect.map(Effect.forEach(inherited, look), (found) => Object.fromEntries(found.flat()))
})

type Spawner = typeof ChildProcessSpawner.ChildProcessSpawner.Service

/** How long to wait for the rest of an exited process's standard error. Its child processes may keep it open. */
const lastWords = "1 second"

const overheard = (spawner: Spawner, { bounds, notices, printed, wrote }: Hearing): Spawner =>
  ChildProcessSpawner.make((command) =>
    Effect.zipWith(spawner.spawn(command), Deferred.make<void>(), (handle, isSilent) =>
      ChildProcessSpawner.makeHandle({
        ...handle,
        stdout: handle.stdout.pipe(
          Stream.decodeText,
          Stream.mapAccum(
            () => new Lines(),
            (lines, chunk: string) => [lines, lines.take(chunk)] as const
          ),
          Stream.map((line) => (line.length > longest ? line : shallow(line, bounds))),
          Stream.filter((line) => {
            // Mutant `line.length >= longest` survives: only a line of just 17 MiB would show it
            if (line.length > longest || isMessage(line)) return true
            printed(line)
            return false
          }),
          Stream.tap((line) => notices.hear(line)),
          Stream.encodeText,
          // Waits for the end of the standard error, because a failure quotes its last words.
          Stream.concat(Stream.fromEffectDrain(Effect.timeoutOption(Deferred.await(isSilent), lastWords)))
        ),
        stderr: handle.stderr.pipe(
          Stream.tap((bytes) => Effect.sync(() => wrote(new TextDecoder().decode(bytes)))),
          Stream.ensuring(Deferred.succeed(isSilent, undefined))
        )
      })
    )
  )

/** Whether a line is a message of the protocol. A program should not write other lines to its standard output, but some do. */
const isMessage = (line: string): boolean => {
  const json = Option.getOrUndefined(Result.getSuccess(Result.try((): unknown => JSON.parse(line))))
  if (!Predicate.isReadonlyObject(json) || json["jsonrpc"] !== "2.0") return false
  return "method" in json || "result" in json || "error" in json
}

/** The longest line that is checked, in UTF-16 code units. A longer line is passed on unchanged, and Effect's transport refuses it. */
const longest = 17 * 1024 * 1024

/** Cuts a stream of text into lines, with their line ends. It joins the pieces of a long line only once. */
class Lines {
  #pieces: Array<string> = []
  #length = 0

  take(chunk: string): ReadonlyArray<string> {
    const lines: Array<string> = []
    let start = 0
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      lines.push(this.#cut(chunk.slice(start, end + 1)))
      start = end + 1
    }
    // Mutant `true` survives: an empty piece changes no line
    if (start < chunk.length) {
      this.#pieces.push(chunk.slice(start))
      this.#length += chunk.length - start
    }
    // Mutant `false` survives: only a line of more than 17 MiB would show it
    if (this.#length > longest) lines.push(this.#cut(""))
    return lines
  }

  #cut(end: string): string {
    const line = this.#pieces.join("") + end
    this.#pieces = []
    // Mutant `;` survives: only lines whose pieces have more than 17 MiB together would show it
    this.#length = 0
    return line
  }
}
