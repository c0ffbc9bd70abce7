/** Serves PGlite on a socket, from a worker thread, so that the database does not block the event loop of the program. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { Worker } from "node:worker_threads"
import { unusable } from "./unusable.ts"

/** The files of the two packages, and the folder of the data. */
interface Files {
  readonly pglite: string
  readonly socket: string
  readonly data: string
}

/**
 * The source of the worker. It is a string so that bundlers need not find a file. The worker sends its port, or the error that stopped it,
 * and ends at the first message.
 */
const program = `
const { parentPort, workerData } = require("node:worker_threads")
const main = async () => {
  const { PGlite } = require(workerData.pglite)
  const { PGLiteSocketServer } = require(workerData.socket)
  const db = await PGlite.create(workerData.data)
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0 })
  server.addEventListener("listening", ({ detail }) => parentPort.postMessage({ port: detail.port }))
  parentPort.once("message", () => server.stop().then(() => db.close()).finally(() => process.exit(0)))
  await server.start()
}
main().catch((fault) => {
  parentPort.postMessage({ fault })
  parentPort.close()
})`

/** Starts the server, and gives its port. The server ends with the scope, after its writes are done. */
export const serve = (files: Files): Effect.Effect<number, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const [worker, ended] = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const worker = new Worker(program, { eval: true, workerData: files, name: "pglite" })
        return [worker, new Promise<void>((done) => worker.once("exit", () => done()))] as const
      }),
      ([worker, ended]) =>
        Effect.promise(() => {
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
          worker.postMessage("end")
          return ended
        })
    )
    return yield* Effect.callback<number, SqlError>((resume) => {
      const refuse = (cause: unknown) => resume(Effect.fail(unusable(files.data, cause)))
      worker.once("error", refuse)
      worker.once("message", ({ fault, port }: { readonly fault?: unknown; readonly port?: number }) => {
        worker.off("error", refuse)
        if (port === undefined) refuse(fault)
        else resume(Effect.succeed(port))
      })
      void ended.then(() => refuse(new Error("its worker has ended")))
    })
  })
