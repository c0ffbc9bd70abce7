/**
 * Stores of long results that were put aside (`Tool.putAside`). They outlive processes and restarts. Each layer is the `Tool.ResultStore`
 * of the program. A result stays until you delete it: once no run of its owner goes on any more.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { KeyValueStore } from "effect/persistence/KeyValueStore"
import { SqlClient } from "effect/sql/SqlClient"
import { Tool } from "@kintsugi/core"

/** The options of `layerSql`. */
interface ResultTable {
  /** The name of the table; `kintsugi_results` by default. The layer creates it if it does not exist. */
  readonly table?: string
}

/**
 * A table with one row for each result. It is on SQLite, PostgreSQL, MySQL or SQL Server. `owner` is the run id, or the name of the
 * conversation; `put_at` is in milliseconds since the epoch.
 */
export const layerSql = ({ table = "kintsugi_results" }: ResultTable = {}): Layer.Layer<never, never, SqlClient> =>
  Layer.effect(
    Tool.ResultStore,
    Effect.gen(function* () {
      const sql = (yield* SqlClient).withoutTransforms()
      const name = sql(table)
      const creating = sql.onDialectOrElse({
        clickhouse: () =>
          Effect.die(new TypeError("ResultStores: ClickHouse has no unique keys, and a result is put once")),
        mssql: () => sql`
          IF NOT EXISTS (SELECT * FROM sysobjects WHERE name=${table} AND xtype='U')
          CREATE TABLE ${name} (
            owner NVARCHAR(250) NOT NULL,
            handle NVARCHAR(100) NOT NULL,
            text NVARCHAR(MAX) NOT NULL,
            put_at BIGINT NOT NULL,
            PRIMARY KEY (owner, handle)
          )`,
        mysql: () => sql`
          CREATE TABLE IF NOT EXISTS ${name} (
            owner VARCHAR(250) NOT NULL,
            handle VARCHAR(100) NOT NULL,
            text LONGTEXT NOT NULL,
            put_at BIGINT NOT NULL,
            PRIMARY KEY (owner, handle)
          )`,
        orElse: () => sql`
          CREATE TABLE IF NOT EXISTS ${name} (
            owner VARCHAR(250) NOT NULL,
            handle VARCHAR(100) NOT NULL,
            text TEXT NOT NULL,
            put_at BIGINT NOT NULL,
            PRIMARY KEY (owner, handle)
          )`
      })
      yield* Effect.orDie(creating)
      // a call that runs again has the same handle and the same result, so the row that exists may stay
      const insert = (owner: string, handle: string, text: string, at: number) =>
        sql.onDialectOrElse({
          mysql: () =>
            sql`INSERT IGNORE INTO ${name} (owner, handle, text, put_at) VALUES (${owner}, ${handle}, ${text}, ${at})`,
          mssql: () =>
            Effect.catchIf(
              sql`INSERT INTO ${name} (owner, handle, text, put_at) VALUES (${owner}, ${handle}, ${text}, ${at})`,
              ({ reason }) => reason._tag === "UniqueViolation",
              () => Effect.void
            ),
          orElse: () => sql`
            INSERT INTO ${name} (owner, handle, text, put_at) VALUES (${owner}, ${handle}, ${text}, ${at})
            ON CONFLICT (owner, handle) DO NOTHING`
        })
      return {
        put: ({ handle, owner, text }) =>
          Effect.flatMap(Clock.currentTimeMillis, (at) => Effect.asVoid(insert(owner, handle, text, at))),
        get: ({ handle, owner }) =>
          Effect.map(
            sql<{ readonly text: string }>`SELECT text FROM ${name} WHERE owner = ${owner} AND handle = ${handle}`,
            ([row]) => row?.text
          )
      }
    })
  )

/** A store with an entry for each result. Its key is `kintsugi/result/<owner>/<handle>`, both encoded as parts of a URL. */
export const layerKeyValueStore: Layer.Layer<never, never, KeyValueStore> = Layer.effect(
  Tool.ResultStore,
  Effect.map(KeyValueStore, (store) => {
    const keyOf = ({ handle, owner }: { readonly owner: string; readonly handle: string }) =>
      `kintsugi/result/${encodeURIComponent(owner.toWellFormed())}/${encodeURIComponent(handle.toWellFormed())}`
    return { put: ({ text, ...key }) => store.set(keyOf(key), text), get: (key) => store.get(keyOf(key)) }
  })
)
