/** A client of SQL for the SQLite of Node: each is a connection of its own, as that of another process. */
import { DatabaseSync } from "node:sqlite"
import { Effect, Layer, Semaphore, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"

export const sqlite = (path: string): Layer.Layer<SqlClient.SqlClient> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const database = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(path, { timeout: 5000 })),
        (opened) => Effect.sync(() => opened.close())
      )
      // others have their turn before and after each statement
      const execute = (sql: string, params: ReadonlyArray<unknown>) =>
        Effect.yieldNow.pipe(
          Effect.andThen(
            Effect.try({
              try: () => database.prepare(sql).all(...(params as Array<string | number>)),
              catch: (cause) =>
                new SqlError({ reason: classifySqliteError(cause, { message: String(cause), operation: "execute" }) })
            })
          ),
          Effect.tap(Effect.yieldNow)
        )
      const connection: Connection = {
        execute,
        executeRaw: execute,
        executeUnprepared: execute,
        executeStream: (sql, params) => Stream.fromIterableEffect(execute(sql, params)),
        executeValues: () => Effect.die("not needed"),
        executeValuesUnprepared: () => Effect.die("not needed")
      }
      const turns = Semaphore.makeUnsafe(1)
      return yield* SqlClient.make({
        acquirer: turns.withPermit(Effect.succeed(connection)),
        // a connection has one transaction at a time, and nothing of others within it
        transactionAcquirer: Effect.as(
          Effect.acquireRelease(turns.take(1), () => turns.release(1), { interruptible: true }),
          connection
        ),
        compiler: Statement.makeCompilerSqlite(),
        driver: "node:sqlite",
        spanAttributes: []
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
