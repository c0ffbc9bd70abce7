/** An MCP server as a process: Effect's transport, with an ear at what it writes. */
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

/** Who hears a process. */
export interface Hearing {
  readonly notices: Notices
  readonly bounds: Bounds.Bounds
  /** What it writes to its standard error. */
  readonly wrote: (text: string) => void
  /** A line of its standard output that is no message: a banner, or a log line that went astray. */
  readonly printed: (line: string) => void
}

/** Starts the process; it is ended with the scope. */
export const open = (
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
      ...(cwd === undefined ? {} : { cwd })
    })
    // the version of the protocol is no matter of this transport
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

/** How long the last words of a process that went away are waited for: whoever it has started may hold its standard error open. */
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
            if (line.length > longest || isMessage(line)) return true
            printed(line)
            return false
          }),
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

/** Whether a line is a message of the protocol: all that a program may write there, and not all that programs do. */
const isMessage = (line: string): boolean => {
  const json = Option.getOrUndefined(Result.getSuccess(Result.try((): unknown => JSON.parse(line))))
  if (!Predicate.isReadonlyObject(json) || json["jsonrpc"] !== "2.0") return false
  return "method" in json || "result" in json || "error" in json
}

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
