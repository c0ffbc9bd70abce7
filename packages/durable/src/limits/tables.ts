/** The tables of shared limits on PostgreSQL and SQLite. */
import * as Effect from "effect/Effect"
import { fromRecord, make as migrator } from "effect/sql/Migrator"
import { SqlClient } from "effect/sql/SqlClient"

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
  })
})

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
