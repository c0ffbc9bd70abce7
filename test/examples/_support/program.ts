/** A program of the examples as a process of its own, with nothing of the environment that names a provider. */
import { Deferred, Effect } from "effect"
import { spawn } from "node:child_process"
import { resolve } from "node:path"

export interface Program {
  /** The first match in what it has written so far, waited for; fails once it has ended without. */
  readonly said: (pattern: RegExp) => Effect.Effect<RegExpExecArray>
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly output: string }>
}

const folder = resolve(import.meta.dirname, "../../../packages/examples/src")

const personal = /_API_KEY$|^(?:MODEL|PORT|HOST|DRAIN)$/

/** It is killed when the scope closes, if it has not ended by then. */
export const start = (path: string, env: Readonly<Record<string, string>>, input = "") =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<{ readonly code: number | null; readonly output: string }>()
    const inherited = Object.entries(process.env).filter(([name]) => !personal.test(name))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [resolve(folder, path)], { env: { ...Object.fromEntries(inherited), ...env } })
      ),
      (process) => Effect.sync(() => process.kill("SIGKILL"))
    )
    let output = ""
    const listeners = new Set<() => void>()
    const hear = (text: string) => {
      output += text
      for (const listener of listeners) listener()
    }
    child.stdout.setEncoding("utf8").on("data", hear)
    child.stderr.setEncoding("utf8").on("data", hear)
    child.stdin.end(input)
    child.once("close", (code) => Deferred.doneUnsafe(ended, Effect.succeed({ code, output })))
    const said = (pattern: RegExp): Effect.Effect<RegExpExecArray> =>
      Effect.callback((resume) => {
        const look = () => {
          const found = pattern.exec(output)
          if (found === null) return
          listeners.delete(look)
          resume(Effect.succeed(found))
        }
        listeners.add(look)
        look()
        return Effect.sync(() => listeners.delete(look))
      })
    const orEnd = <A>(effect: Effect.Effect<A>) =>
      Effect.raceFirst(
        effect,
        Effect.flatMap(Deferred.await(ended), () => Effect.die(new Error(`it has ended:\n${output}`)))
      )
    return {
      said: (pattern) => orEnd(said(pattern)),
      signal: (name) => Effect.sync(() => void child.kill(name)),
      ended: Deferred.await(ended)
    } satisfies Program as Program
  })
