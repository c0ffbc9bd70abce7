/** What conversations cost on three runners and PostgreSQL: how fast they wake, how many messages are answered, and what they weigh. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Message } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { startPostgres } from "./postgres.ts"
import { engineOn } from "./processes/cluster.ts"
import { talksIn } from "./talk.ts"
import { startTalker } from "./talking.ts"

/** The most messages under way at a time. */
const underWay = 48

/** The conversations that are woken before the measurement: so many that each runner has some of them. */
const warming = 90

const quantile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? Number.NaN

/** Asks again while a runner takes no question, as when a loaded machine moves its conversations. */
const admitted = <A, E extends { readonly _tag: string }, R>(self: Effect.Effect<A, E, R>) =>
  Effect.retry(self, { schedule: Schedule.spaced("1 second"), while: ({ _tag }) => _tag === "ConversationBusyError" })

const size = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly bytes: string; readonly rows: string }>`
    SELECT sum(pg_total_relation_size(relid))::text AS bytes, sum(n_live_tup)::text AS rows FROM pg_stat_user_tables`
  return { bytes: Number(row?.bytes), rows: Number(row?.rows) }
})

/** Writes what so many conversations cost, of which `asked` get a message each. */
export const talkBench = async (postgres: string, count: number, asked: number): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-talks-"))
  const database = await startPostgres(postgres)
  const ledger = join(folder, "ledger")
  const runners = await Promise.all([0, 1, 2].map(() => startTalker(database.port, ledger, "time")))
  const talks = talksIn(ledger)
  const client = Layer.provideMerge(Conversations.layerSql(), engineOn(database.port))
  const heaps = Effect.promise(async () => {
    const all = await Promise.all(runners.map(({ heap }) => heap()))
    return all.reduce((sum, one) => sum + one, 0)
  })
  const of = (nth: number) => ({ conversation: `c-${nth}`, subject: "ann" })
  const before = [Message.user("hello"), Message.assistant("good day")]
  const measured = Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    const all = Array.from({ length: count }, (_, nth) => nth)
    yield* Effect.forEach(all, (nth) => store.append({ ...of(nth), expected: 0, messages: before }), {
      concurrency: 8,
      discard: true
    })
    const woken = Array.from({ length: asked }, (_, nth) => Math.floor((nth * count) / asked))
    // the first messages load on each runner what is loaded when it is needed
    yield* Effect.forEach(
      Array.from({ length: warming }, (_, nth) => ({ ...of(count + nth), id: "1" })),
      (one) =>
        Effect.andThen(
          admitted(ConversationEntity.send(talks, { ...one, message: "time" })),
          admitted(ConversationEntity.answer(talks, one))
        ),
      { concurrency: 8, discard: true }
    )
    yield* Effect.sleep("100 seconds")
    const [asleep, sizeBefore] = [yield* heaps, yield* size]
    const begun = performance.now()
    const wakes = yield* Effect.forEach(
      woken,
      (nth) =>
        Effect.gen(function* () {
          const sent = Date.now()
          yield* admitted(ConversationEntity.send(talks, { ...of(nth), id: "1", message: "time" }))
          const accepted = Date.now() - sent
          const answer = yield* admitted(ConversationEntity.answer(talks, { ...of(nth), id: "1" }))
          return { accepted, called: Number(answer) - sent }
        }),
      { concurrency: underWay }
    )
    const seconds = (performance.now() - begun) / 1000
    const awake = yield* heaps
    yield* Effect.sleep("100 seconds")
    const [asleepAfter, sizeAfter] = [yield* heaps, yield* size]
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["messages per second", (asked / seconds).toFixed(1)],
      ...(["accepted", "called"] as const).flatMap((what): ReadonlyArray<readonly [string, string]> =>
        [0.5, 0.99].map((share) => [
          `from send until ${what === "called" ? "the model is asked" : "send returns"}, p${share * 100}`,
          `${quantile(
            wakes.map((wake) => wake[what]),
            share
          )} ms`
        ])
      ),
      ["heap per conversation that was woken", `${((awake - asleep) / asked / 1024).toFixed(1)} KiB`],
      ["the same when all sleep again", `${((asleepAfter - asleep) / asked / 1024).toFixed(2)} KiB`],
      ["rows per answered message", ((sizeAfter.rows - sizeBefore.rows) / asked).toFixed(1)],
      [
        "bytes per answered message, with indexes",
        `${((sizeAfter.bytes - sizeBefore.bytes) / asked / 1024).toFixed(1)} KiB`
      ]
    ]
    console.log(`${count} conversations on three runners, ${asked} messages, at most ${underWay} under way`)
    for (const [what, value] of rows) console.log(`  ${what}: ${value}`)
  })
  try {
    await Promise.all(runners.map(({ says }) => says("ready")))
    await Effect.runPromise(Effect.provide(measured, client))
  } finally {
    await Promise.all(runners.map(({ end }) => end("SIGKILL")))
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
