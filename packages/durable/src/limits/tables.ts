/** The tables of shared limits on PostgreSQL and SQLite. */
import * as Effect from "effect/Effect"
import { fromRecord, make as migrator } from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

export const budgets = "kintsugi_budgets"
export const rates = "kintsugi_rates"
export const learnedRates = "kintsugi_learned_rates"

/** Each release adds migrations at the end, and changes none that stands here. */
const migrations = fromRecord({
  "0001_limits": Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`CREATE TABLE ${sql(budgets)} (
      name TEXT NOT NULL,
      unit TEXT NOT NULL,
      per BIGINT NOT NULL,
      since BIGINT NOT NULL,
      spent BIGINT NOT NULL,
      lease BIGINT NOT NULL,
      held BIGINT NOT NULL,
      lease_before BIGINT NOT NULL,
      held_before BIGINT NOT NULL,
      PRIMARY KEY (name, unit, per, since)
    )`
    yield* sql`CREATE TABLE ${sql(rates)} (
      name TEXT NOT NULL,
      kind TEXT NOT NULL,
      amount DOUBLE PRECISION NOT NULL,
      instant DOUBLE PRECISION NOT NULL,
      asked DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (name, kind)
    )`
    yield* sql`CREATE TABLE ${sql(learnedRates)} (
      name TEXT PRIMARY KEY,
      phase TEXT NOT NULL,
      epoch INTEGER NOT NULL,
      cooldown_until DOUBLE PRECISION NOT NULL,
      learning_started DOUBLE PRECISION NOT NULL,
      observed DOUBLE PRECISION NOT NULL,
      learned_limit DOUBLE PRECISION NOT NULL,
      learned_window DOUBLE PRECISION NOT NULL,
      expires_at DOUBLE PRECISION NOT NULL
    )`
  }),
  "0002_removal": Effect.gen(function* () {
    const sql = yield* SqlClient
    // a row of an older release has no time, and stays until a take changes it
    yield* sql`ALTER TABLE ${sql(rates)} ADD COLUMN expires_at DOUBLE PRECISION`
    yield* sql`CREATE INDEX ${sql(`${rates}_expiry`)} ON ${sql(rates)} (expires_at)`
    yield* sql`CREATE INDEX ${sql(`${budgets}_end`)} ON ${sql(budgets)} ((since + per)) WHERE per > 0`
  })
})

/** How many rows one statement removes at most, so that a take with a long backlog is not held up. */
const most = 1000

/** Removes rows that a condition holds for, and returns them. Rows that another process changes or removes at this moment are left to it. */
export const removed = (sql: SqlClient, table: string, key: ReadonlyArray<string>, isOld: Fragment) => {
  const columns = sql.csv(key.map((column) => sql`${sql(column)}`))
  const locked = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE SKIP LOCKED`, orElse: () => sql`` })
  return sql`DELETE FROM ${sql(table)} WHERE (${columns}) IN
    (SELECT ${columns} FROM ${sql(table)} WHERE ${isOld} LIMIT ${most} ${locked}) RETURNING 1`
}

// not the table of the conversations, because each counts its own migrations
const migrate = migrator({})({ loader: migrations, table: "kintsugi_migrations_limits" })

/** The client with these tables, which it makes or brings up to date. `layer` is the name of the layer that needs them. */
export const migrated = (layer: string) =>
  Effect.gen(function* () {
    const client = yield* SqlClient
    const sql = client.withoutTransforms()
    yield* sql.onDialectOrElse({
      pg: () => Effect.void,
      sqlite: () => Effect.void,
      orElse: () => Effect.die(new TypeError(`${layer} works on PostgreSQL, PGlite and SQLite`))
    })
    yield* Effect.provideService(migrate, SqlClient, sql)
    return sql
  })
