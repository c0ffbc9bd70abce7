/** An MCP server as a process: Effect's transport, with an ear at what it writes. */
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpClientError from "effect/ai/McpClientError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Notices } from "./notices.ts"

/** The program that is started as a server. */
export interface StdioOptions {
  /** The program, without a shell. */
  readonly command: string
  /** Secrets are `Redacted`; other programs of the machine can see them, as they cannot see those in `env`. */
  readonly args?: ReadonlyArray<string | Redacted.Redacted>
  /** Variables of its environment, besides `PATH`, `HOME` and the like: it inherits no others. Secrets are `Redacted`. */
  readonly env?: Readonly<Record<string, string | Redacted.Redacted>>
  /** Where it runs; where this process runs by default. */
  readonly cwd?: string
}

/** What a program needs to run at all; no credential of this process is among it. */
const inherited = `HOME LANG LOGNAME PATH SHELL TERM TMPDIR USER
  APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS PATHEXT PROCESSOR_ARCHITECTURE PROGRAMFILES
  SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE`.split(/\s+/)

/** Starts the process; it is ended with the scope. `wrote` is told what it writes to its standard error. */
export const open = (
  { args = [], command, cwd, env }: StdioOptions,
  notices: Notices,
  wrote: (text: string) => void
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
      ...(cwd === undefined ? {} : { cwd })
    })
    // the version of the protocol is no matter of this transport
    return yield* McpClient.stdio({ command: process, protocol: McpProtocol.v2025_11_25 }).pipe(
      Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, overheard(spawner, notices, wrote))
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

/** How long the last words of a process that went away are waited for: whoever it has started may hold its standard error open. */
const lastWords = "1 second"

const overheard = (spawner: Spawner, notices: Notices, wrote: (text: string) => void): Spawner =>
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
          // a banner, or a log line that went astray, is no message
          Stream.filter((line) => line.startsWith("{") || line.startsWith("[")),
          Stream.tap((line) => notices.hear(line)),
          Stream.encodeText,
          // its failure is told with what it wrote
          Stream.concat(Stream.fromEffectDrain(Effect.timeoutOption(Deferred.await(isSilent), lastWords)))
        ),
        stderr: handle.stderr.pipe(
          Stream.tap((bytes) => Effect.sync(() => wrote(new TextDecoder().decode(bytes)))),
          Stream.ensuring(Deferred.succeed(isSilent, undefined))
        )
      })
    )
  )

/** Beyond this length, in UTF-16 units, a line is passed on as it is: Effect's own transport refuses it. */
const longest = 17 * 1024 * 1024

/** Text in lines, each with its end; copies a long line once. */
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
    if (start < chunk.length) {
      this.#pieces.push(chunk.slice(start))
      this.#length += chunk.length - start
    }
    if (this.#length > longest) lines.push(this.#cut(""))
    return lines
  }

  #cut(end: string): string {
    const line = this.#pieces.join("") + end
    this.#pieces = []
    this.#length = 0
    return line
  }
}
