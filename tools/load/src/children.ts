/** The processes of a load: each listens, answers the generator, and is stopped with the scope that started it. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { openSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schedule, Schema, type Scope } from "effect"
import { root } from "../../../scripts/files.ts"
import type { Answer, Ask } from "./answering.ts"

/** A process of the load has ended, or does not do what it is for. */
export class ProcessFailed extends Schema.TaggedError<ProcessFailed>()("ProcessFailed", { message: Schema.String }) {}

export interface Child {
  readonly pid: number | undefined
  readonly send: (message: object) => void
  /** Asks it something; it says what `A` is. */
  readonly ask: <A>(ask: string, about?: unknown) => Effect.Effect<A>
  readonly kill: (signal: "SIGKILL" | "SIGTERM") => void
  /** How it has ended, once it has. */
  readonly ended: Effect.Effect<number | NodeJS.Signals>
  /** Fails when it ends by itself. */
  readonly died: Effect.Effect<never, ProcessFailed>
}

export interface Program {
  readonly name: string
  readonly script: string
  /** The file for all that it prints. */
  readonly log: string
  readonly env: Readonly<Record<string, string>>
  /** Options of Node besides. */
  readonly options?: ReadonlyArray<string>
}

const probe = join(import.meta.dirname, "probe.ts")
const execArgv = ["--expose-gc", "--disable-warning=ExperimentalWarning", "--import", probe]

/** The environment of this process, without what would lead the subjects elsewhere. */
const inherited = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$|_BASE_URL$|^HOSTS?$|^CI$/.test(name)))

export const start = ({ env, log, name, options = [], script }: Program): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const output = openSync(log, "w")
      const stdio = ["ignore" as const, output, output, "ipc" as const]
      const child = fork(join(root, script), {
        execArgv: [...execArgv, ...options],
        stdio,
        env: { ...inherited(), NO_COLOR: "1", ...env }
      })
      return { child, ended: once(child, "exit") }
    }),
    ({ child, ended }) =>
      Effect.promise(async () => {
        child.kill("SIGKILL")
        await ended
      })
  ).pipe(
    Effect.map(({ child, ended }) => {
      // where the channel is closed, `died` says so
      const send = (message: object) => void child.send(message, () => {})
      const waiting = new Map<number, (answer: unknown) => void>()
      let asked = 0
      child.on("message", ({ answer, id }: Answer) => {
        waiting.get(id)?.(answer)
        waiting.delete(id)
      })
      return {
        pid: child.pid,
        send,
        kill: (signal: "SIGKILL" | "SIGTERM") => void child.kill(signal),
        ended: Effect.map(
          Effect.promise(() => ended),
          ([code, signal]) => signal ?? code
        ),
        ask: <A>(ask: string, about?: unknown) =>
          Effect.callback<A>((resume) => {
            const id = ++asked
            // the process is one of this folder: it answers what its own types say
            waiting.set(id, (answer) => resume(Effect.succeed(answer as A)))
            send({ id, ask, about } satisfies Ask)
          }),
        died: Effect.flatMap(
          Effect.promise(() => ended),
          ([code, signal]) =>
            Effect.fail(new ProcessFailed({ message: `${name} has ended with ${signal ?? code}: see ${log}` }))
        )
      }
    })
  )

/** Waits until a server answers. */
export const healthy = (url: string): Effect.Effect<void, ProcessFailed> =>
  Effect.tryPromise({
    try: async () => {
      const { ok } = await fetch(`${url}/health`)
      if (!ok) throw new TypeError("it is not well")
    },
    catch: (error) => new ProcessFailed({ message: `${url} does not answer: ${String(error)}` })
  }).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 1200 }))
