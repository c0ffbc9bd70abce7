/**
 * A process that opens an engine and says what has come of it, as a line of JSON: `holder.ts database`, the URL of a server or a folder. It closes the
 * engine when a line comes, and then has nothing to do.
 */
import { createInterface } from "node:readline"
import { Cause, Effect, Exit, Result } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { engineOn } from "../engine.ts"

const [database = ""] = process.argv.slice(2)

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

const line = Effect.promise(
  () =>
    new Promise<void>((resolve) => {
      const input = createInterface(process.stdin)
      input.once("line", () => {
        input.close()
        process.stdin.destroy()
        resolve()
      })
    })
)

const exit = await Effect.gen(function* () {
  // the client of PostgreSQL has its config
  const { config } = (yield* SqlClient.SqlClient) as unknown as { readonly config: { readonly port?: number } }
  say({ port: config.port ?? 0 })
  yield* line
}).pipe(Effect.provide(engineOn(database)), Effect.runPromiseExit)

if (Exit.isFailure(exit)) {
  const error = Result.getOrUndefined(Cause.findError(exit.cause))
  const defect = Result.getOrUndefined(Cause.findDefect(exit.cause))
  say(error === undefined ? { defect: String(defect) } : { ...error, _tag: error._tag, message: error.message })
} else say({ closed: true })
