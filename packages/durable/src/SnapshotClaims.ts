/**
 * Stores of the snapshots that were resumed. They outlive processes and restarts. Each layer is the `Snapshot.Claims` of the program, and
 * gives a snapshot to one of several claimants at the same time, as far as its store can: the layers say how far.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { KeyValueStore } from "effect/persistence/KeyValueStore"
import * as Semaphore from "effect/Semaphore"
import { SqlClient } from "effect/sql/SqlClient"
import { Snapshot } from "@kintsugi/core"

/** The options of `layerSql`. */
interface SqlOptions {
  /** The name of the table; `kintsugi_snapshot_claims` by default. The layer creates it if it does not exist. */
  readonly table?: string
}

/**
 * A table with one row for each resumed snapshot. It is on SQLite, PostgreSQL, MySQL or SQL Server. Its primary key makes a claim atomic:
 * of any number of processes one has the row. `claimed_at` is in milliseconds since the epoch; rows that are older than any document that
 * you keep may be deleted.
 *
 * A claim takes part in the transaction around the resumption, if there is one, and is taken back with it.
 */
export const layerSql = ({ table = "kintsugi_snapshot_claims" }: SqlOptions = {}): Layer.Layer<
  never,
  never,
  SqlClient
> =>
  Layer.effect(
    Snapshot.Claims,
    Effect.gen(function* () {
      const sql = (yield* SqlClient).withoutTransforms()
      const name = sql(table)
      const creating = sql.onDialectOrElse({
        clickhouse: () =>
          Effect.die(
            new TypeError("SnapshotClaims: ClickHouse has no unique keys, which are the atomic step of a claim")
          ),
        mssql: () => sql`
          IF NOT EXISTS (SELECT * FROM sysobjects WHERE name=${table} AND xtype='U')
          CREATE TABLE ${name} (
            id NVARCHAR(100) PRIMARY KEY,
            claimant NVARCHAR(100) NOT NULL,
            claimed_at BIGINT NOT NULL
          )`,
        orElse: () => sql`
          CREATE TABLE IF NOT EXISTS ${name} (
            id VARCHAR(100) PRIMARY KEY,
            claimant VARCHAR(100) NOT NULL,
            claimed_at BIGINT NOT NULL
          )`
      })
      yield* Effect.orDie(creating)
      const take = (id: string, claimant: string, at: number) =>
        sql.onDialectOrElse({
          mysql: () => sql`INSERT IGNORE INTO ${name} (id, claimant, claimed_at) VALUES (${id}, ${claimant}, ${at})`,
          mssql: () =>
            Effect.catchIf(
              sql`INSERT INTO ${name} (id, claimant, claimed_at) VALUES (${id}, ${claimant}, ${at})`,
              ({ reason }) => reason._tag === "UniqueViolation",
              () => Effect.void
            ),
          orElse: () => sql`
            INSERT INTO ${name} (id, claimant, claimed_at) VALUES (${id}, ${claimant}, ${at})
            ON CONFLICT (id) DO NOTHING`
        })
      return {
        claim: ({ claimant, snapshot }) =>
          Effect.gen(function* () {
            yield* take(snapshot, claimant, yield* Clock.currentTimeMillis)
            // the first claimant has the row, so read who that is
            const rows = yield* sql<{ readonly claimant: string }>`SELECT claimant FROM ${name} WHERE id = ${snapshot}`
            return rows[0]?.claimant === claimant
          }).pipe(Effect.orDie)
      }
    })
  )

/**
 * A store with an entry for each resumed snapshot. Its key is `kintsugi/claim/<id>`. It outlives a restart.
 *
 * A `KeyValueStore` can only read and write, so a claim is atomic within one layer alone: two processes on one store that resume
 * the same snapshot at the same moment may both have it. For several processes take `layerSql`.
 */
export const layerKeyValueStore: Layer.Layer<never, never, KeyValueStore> = Layer.effect(
  Snapshot.Claims,
  Effect.gen(function* () {
    const store = yield* KeyValueStore
    const one = yield* Semaphore.make(1)
    return {
      claim: ({ claimant, snapshot }) =>
        Effect.gen(function* () {
          const key = `kintsugi/claim/${snapshot}`
          const before = yield* store.get(key)
          if (before === undefined) yield* store.set(key, claimant)
          return before === undefined || before === claimant
        }).pipe(one.withPermit, Effect.orDie)
    }
  })
)
