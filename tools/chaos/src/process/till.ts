/** The shop on PostgreSQL, which all processes share. */
import { type Order, NoSuchOrder, Shop, ShopBusy } from "@kintsugi/examples/backend/shop"
import { Effect, Layer, Option, Schedule } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { writer } from "../diary.ts"

const orders: ReadonlyArray<typeof Order.Type> = [
  { id: "A-17", item: "a lamp", cents: 4900 },
  { id: "B-4", item: "an oak table", cents: 78_000 }
]

/** The table of refunds. One process makes it before the others begin. */
export const creating = SqlClient.SqlClient.use(
  (sql) => sql`CREATE TABLE refunds (key TEXT PRIMARY KEY, "order" TEXT NOT NULL, cents INTEGER NOT NULL)`
)

/** A refund with the same key is paid once, so that it can be tried until the database answers. */
const stubborn = Schedule.spaced("500 millis")

export const layer = (write: ReturnType<typeof writer>) =>
  Layer.effect(
    Shop,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const found = (orderId: string) =>
        Effect.mapError(
          Effect.fromOption(Option.fromUndefinedOr(orders.find(({ id }) => id === orderId))),
          () => new NoSuchOrder({ message: `There is no order '${orderId.slice(0, 50)}'.` })
        )
      const paid = (key: string) =>
        Effect.map(sql<{ readonly cents: number }>`SELECT cents FROM refunds WHERE key = ${key}`, ([row]) =>
          Option.map(Option.fromUndefinedOr(row), ({ cents }) => `refund of ${cents} cents`)
        ).pipe(Effect.retry(stubborn), Effect.orDie)
      return {
        find: (orderId) =>
          Effect.andThen(
            Effect.mapError(sql`SELECT 1`, () => new ShopBusy({ message: "The shop is busy." })),
            found(orderId)
          ),
        refund: ({ cents, key, orderId }) =>
          Effect.gen(function* () {
            yield* Effect.sync(() => write({ type: "pays", key }))
            yield* found(orderId)
            yield* Effect.orDie(
              Effect.retry(
                sql`INSERT INTO refunds (key, "order", cents) VALUES (${key}, ${orderId}, ${cents}) ON CONFLICT DO NOTHING`,
                stubborn
              )
            )
            return `refund of ${cents} cents`
          }),
        receipt: (key) =>
          Effect.tap(paid(key), (receipt) =>
            Effect.sync(() => write({ type: "looked", key, found: Option.isSome(receipt) }))
          )
      }
    })
  )
