/** Shared budgets in a table of PostgreSQL or SQLite: one row for each period, which each statement reads and changes at once. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { BudgetPeriod, BudgetStore } from "./BudgetStore.ts"
import { leaseAt } from "./leases.ts"
import { budgets, migrated, removed } from "./tables.ts"

/** PostgreSQL gives a BIGINT as a text. */
interface Row {
  readonly spent: number | string
  readonly reserved: number | string
}

/** The storage on this client. It makes its table, or brings it up to date. */
export const sqlStore: Effect.Effect<BudgetStore, unknown, SqlClient> = Effect.gen(function* () {
  const sql = yield* migrated("SharedBudget.layerSql")

  const isRow = ({ key, per, since, unit }: BudgetPeriod) =>
    sql`name = ${key} AND unit = ${unit} AND per = ${per} AND since = ${since}`

  /** What is reserved at a lease: amounts of the lease before it count, older ones have expired. */
  const reserved = (lease: number, length: number) =>
    sql`CASE WHEN b.lease >= ${lease} THEN b.held + b.held_before WHEN b.lease >= ${lease - length} THEN b.held ELSE 0 END`

  const read: BudgetStore["read"] = (of, at, length) =>
    Effect.map(
      sql<Row>`SELECT b.spent, ${reserved(leaseAt(at, length), length)} AS reserved FROM ${sql(budgets)} AS b WHERE ${isRow(of)}`,
      ([row]) => ({ spent: Number(row?.spent ?? 0), reserved: Number(row?.reserved ?? 0) })
    )

  return {
    reserve: ({ amount, at, lease: length, limit, ...of }) =>
      Effect.gen(function* () {
        const lease = leaseAt(at, length)
        // the row of a new period has no amount that stands against the call
        if (amount > limit) return yield* read(of, at, length)
        const [taken] = yield* sql<{ readonly lease: number | string }>`INSERT INTO ${sql(budgets)} AS b
            (name, unit, per, since, spent, lease, held, lease_before, held_before)
          VALUES (${of.key}, ${of.unit}, ${of.per}, ${of.since}, 0, ${lease}, ${amount}, -1, 0)
          ON CONFLICT (name, unit, per, since) DO UPDATE SET
            lease = CASE WHEN b.lease >= ${lease} THEN b.lease ELSE ${lease} END,
            held = ${amount} + CASE WHEN b.lease >= ${lease} THEN b.held ELSE 0 END,
            lease_before = CASE WHEN b.lease >= ${lease} THEN b.lease_before WHEN b.lease >= ${lease - length} THEN b.lease ELSE -1 END,
            held_before = CASE WHEN b.lease >= ${lease} THEN b.held_before WHEN b.lease >= ${lease - length} THEN b.held ELSE 0 END
          WHERE b.spent + ${reserved(lease, length)} <= ${limit - amount}
          RETURNING lease`
        return taken === undefined ? yield* read(of, at, length) : { ...of, amount, lease: Number(taken.lease) }
      }),
    settle: (held, used) =>
      Effect.asVoid(sql`UPDATE ${sql(budgets)} SET
          spent = spent + ${used},
          held = held - CASE WHEN lease = ${held.lease} THEN ${held.amount} ELSE 0 END,
          held_before = held_before - CASE WHEN lease_before = ${held.lease} THEN ${held.amount} ELSE 0 END
        WHERE ${isRow(held)}`),
    read,
    removeOlder: (than) =>
      Effect.map(
        removed(sql, budgets, ["name", "unit", "per", "since"], sql`per > 0 AND since + per < ${than}`),
        (gone) => gone.length
      )
  }
})
