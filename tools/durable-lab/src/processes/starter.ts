/**
 * Who starts the orders of a cluster, decides what has to be decided, and tells how they end: `starter.ts database folder patience order…`.
 * Each line of its standard output is JSON. Where nothing is done for longer than the patience, in seconds, it tells what there is to
 * know of what has not ended.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Approval } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Clock, Effect, Option, Schema } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { bytesOf } from "./bytes.ts"
import { engineOn } from "./cluster.ts"
import { ordersIn } from "./orders.ts"

const [database = "", folder = "", patience = "0", ...names] = process.argv.slice(2)

const guide = new URL("../../../../docs/guide/", import.meta.url)
const textOf = (page: string): string => readFileSync(new URL(page, guide), "utf8")

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

// it starts orders, and works on none
const nothing = () => Effect.die(new Error("this process works on nothing"))
const orders = ordersIn({ tell: nothing, ask: nothing, enter: nothing, has: () => false, hear: nothing })

const Asked = Schema.fromJsonString(Durable.DurableRequest)

/** Approves each request that came since it was last called. */
const deciding = () => {
  let decided = 0
  const file = join(folder, "asked")
  return Effect.gen(function* () {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
    for (const line of lines.slice(decided)) {
      yield* Durable.decide(orders, yield* Schema.decodeUnknownEffect(Asked)(line), Approval.approve)
      decided++
    }
  })
}

/** How many orders have ended. */
const ended = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM cluster_messages m JOIN cluster_replies r ON r.request_id = m.id AND r.kind = 0
    WHERE m.entity_type = ${`Workflow/${orders.workflow._tag}`} AND m.tag = 'run'
      AND r.payload::jsonb #>> '{value,_tag}' = 'Complete'`
  return row?.count ?? 0
})

/** How much has come of them so far: while this grows, they are at work. */
const replied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly last: string }>`SELECT coalesce(max(rowid), 0)::text AS last FROM cluster_replies`
  return row?.last ?? ""
})

/** What is known of what has not ended. */
const unfinished = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const messages = yield* sql`
    SELECT m.id::text, m.shard_id, m.entity_id, m.tag, left(m.payload, 120) AS payload, m.last_read::text, m.deliver_at::text,
      now()::text AS now FROM cluster_messages m WHERE NOT m.processed AND m.deliver_at IS NULL ORDER BY m.rowid LIMIT 20`
  const suspended = yield* sql`
    SELECT m.entity_id, m.shard_id, left(r.payload, 200) AS reply FROM cluster_messages m
    JOIN cluster_replies r ON r.request_id = m.id AND r.kind = 0
    WHERE m.tag = 'run' AND m.entity_type = ${`Workflow/${orders.workflow._tag}`}
      AND r.payload::jsonb #>> '{value,_tag}' = 'Suspended' LIMIT 20`
  const locks = yield* sql`
    SELECT l.pid, count(*)::int AS shards, min(a.state) AS state, min(a.backend_start)::text AS since FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.objsubid = 2 GROUP BY l.pid`
  const runners = yield* sql`SELECT address, healthy, last_heartbeat::text FROM cluster_runners`
  say({ unfinished: { messages, suspended, locks, runners } })
})

/** What runners have marked as read and have not answered is free for them to read again: of how many messages that is so. */
const unmarking = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    UPDATE cluster_messages SET last_read = NULL WHERE NOT processed AND last_read IS NOT NULL RETURNING id`
  return rows.length
})

/** The statements of the guide, on these orders: one that counts what has not ended, and one that deletes what has. */
const statements = (age: string): ReadonlyArray<string> =>
  [...`${textOf("durable.md")}${textOf("durable-reference.md")}`.matchAll(/```sql\n([\s\S]*?)```/g)].map(
    ([, text = ""]) => text.replaceAll("clerk@1", orders.workflow._tag).replaceAll("30 days", age)
  )

/** Deletes what has ended, as the guide says: how many runs are left to do, and how many rows after what has ended this long ago. */
const deleting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = sql<{ readonly count: number }>`
    SELECT ((SELECT count(*) FROM cluster_messages) + (SELECT count(*) FROM cluster_replies))::int AS count`
  const count = Effect.map(rows, ([row]) => row?.count ?? 0)
  const [left = "", young = ""] = statements("1 day")
  // the clock of a runner may have been hours ahead
  const [, old = ""] = statements("-1 day")
  const [undone] = yield* sql.unsafe<{ readonly count: string }>(left)
  const before = yield* count
  yield* sql.unsafe(young)
  const afterYoung = yield* count
  yield* sql.unsafe(old)
  return { undone: Number(undone?.count), before, afterYoung, afterOld: yield* count }
})

const main = Effect.gen(function* () {
  const ids = yield* Effect.forEach(names, (id) => Durable.start(orders, { id, input: id }), { concurrency: 8 })
  say({ started: ids.length })
  const decide = deciding()
  let marks = -1
  let [count, last, quiet, longest] = [0, "", yield* Clock.currentTimeMillis, 0]
  while (count < ids.length) {
    yield* decide
    const [now, reply, time] = [yield* ended, yield* replied, yield* Clock.currentTimeMillis]
    longest = Math.max(longest, time - quiet)
    if (reply !== last) quiet = time
    if (now !== count) say({ ended: now })
    count = now
    last = reply
    if (time - quiet > Number(patience) * 1000) return yield* unfinished
    if (time - quiet > (Number(patience) * 1000) / 2 && marks < 0) {
      yield* unfinished
      marks = yield* unmarking
      say({ marks })
    }
    yield* Effect.sleep(200)
  }
  say({ quiet: longest / 1000 })
  for (const [index, id] of ids.entries()) {
    const result = Option.getOrUndefined(yield* Durable.poll(orders, id))
    const end = result?._tag === "Complete" ? result.exit : undefined
    const turns = [5, 50]
    const bytes = names[index]?.startsWith("turns-")
      ? Object.fromEntries(
          yield* Effect.forEach(turns, (turn) => Effect.map(bytesOf(id, turn), (size) => [turn, size]))
        )
      : undefined
    say({ order: names[index], answer: end?._tag === "Success" ? end.value : JSON.stringify(end ?? result), bytes })
  }
  const deleted = yield* deleting
  const unknown = yield* Effect.forEach(ids, (id) =>
    Effect.match(Durable.poll(orders, id), {
      onFailure: ({ _tag }) => _tag === "UnknownRunError",
      onSuccess: () => false
    })
  )
  say({ deleted: { ...deleted, unknown: unknown.filter((is) => is).length } })
}).pipe(Effect.provide(engineOn(Number(database))))

await Effect.runPromise(main)
process.exit(0)
