/** The rows of rate limits: what each call of the store writes and answers, and when a row is removed. */
import { assert, it } from "@effect/vitest"
import { RateLimits, SharedBudget } from "@kintsugi/durable"
import { Cause, Context, Duration, Effect, Exit, Layer, Logger, References } from "effect"
import { RateLimiter } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { rateStore } from "../../../packages/durable/src/limits/rateStore.ts"
import { removed } from "../../../packages/durable/src/limits/tables.ts"
import { sqlite } from "../_support/sqlite.ts"

/** A store on a database of its own, at the instant 1000, and its rows. */
const made = Effect.gen(function* () {
  yield* TestClock.setTime(1000)
  const client = yield* Layer.build(sqlite(":memory:"))
  const context = yield* Layer.build(RateLimits.layerSql.pipe(Layer.provide(Layer.succeedContext(client))))
  const sql = Context.get(client, SqlClient.SqlClient)
  const plain = (rows: ReadonlyArray<object>) => rows.map((row) => ({ ...row }))
  return {
    store: Context.get(context, RateLimiter.RateLimiterStore),
    rows: Effect.map(sql`SELECT * FROM kintsugi_rates ORDER BY name`, plain),
    learned: Effect.map(sql`SELECT * FROM kintsugi_learned_rates ORDER BY name`, plain),
    drop: sql`DROP TABLE kintsugi_learned_rates`,
    tables: Effect.map(sql<{ readonly name: string }>`SELECT name FROM sqlite_master ORDER BY name`, (all) =>
      all.flatMap(({ name }) => (name.startsWith("kintsugi") ? [name] : []))
    )
  }
})

it.effect("makes the tables of rates and of budgets, and the indices by which rows are removed [P1721]", () =>
  Effect.gen(function* () {
    const { tables } = yield* made
    assert.deepStrictEqual(yield* tables, [
      "kintsugi_budgets",
      "kintsugi_budgets_end",
      "kintsugi_learned_rates",
      "kintsugi_migrations_limits",
      "kintsugi_rates",
      "kintsugi_rates_expiry"
    ])
  })
)

const refillRate = Duration.millis(100)

it.effect(
  "a window counts up to its limit, from its first take on, and ends as much later; 0 is no limit [P1721]",
  () =>
    Effect.gen(function* () {
      const { rows, store } = yield* made
      const take = (key: string, tokens: number) => store.fixedWindow({ key, tokens, refillRate, limit: 3 })
      const row = { name: "w", kind: "window" }
      assert.deepStrictEqual(yield* take("w", 1), [1, 100])
      assert.deepStrictEqual(yield* rows, [{ ...row, amount: 1, instant: 1100, asked: 1, expires_at: 1100 }])
      assert.deepStrictEqual(yield* take("w", 2), [3, 300])
      assert.deepStrictEqual(yield* rows, [{ ...row, amount: 3, instant: 1300, asked: 3, expires_at: 1300 }])
      assert.deepStrictEqual(yield* take("w", 1), [4, 300])
      const full = { ...row, amount: 3, instant: 1300, asked: 4, expires_at: 1300 }
      assert.deepStrictEqual(yield* rows, [full])
      assert.deepStrictEqual(yield* take("above", 4), [4, 0])
      assert.deepStrictEqual(yield* take("whole", 3), [3, 300])
      for (const key of ["none", "zero"]) {
        const free = (tokens: number) =>
          store.fixedWindow({ key, tokens, refillRate, limit: key === "zero" ? 0 : undefined })
        assert.deepStrictEqual(yield* free(5), [5, 500])
        assert.deepStrictEqual(yield* free(5), [10, 1000])
      }
      assert.deepStrictEqual(yield* rows, [
        { ...row, name: "above", amount: 0, instant: 1000, asked: 4, expires_at: 1000 },
        { ...row, name: "none", amount: 10, instant: 2000, asked: 10, expires_at: 2000 },
        full,
        { ...full, name: "whole", asked: 3 },
        { ...row, name: "zero", amount: 10, instant: 2000, asked: 10, expires_at: 2000 }
      ])
      yield* TestClock.setTime(1300)
      assert.deepStrictEqual(yield* take("w", 2), [2, 200])
      assert.deepStrictEqual((yield* rows)[2], { ...row, amount: 2, instant: 1500, asked: 2, expires_at: 1500 })
    })
)

it.effect("a bucket fills by whole tokens, and its row expires when it is full [P1721]", () =>
  Effect.gen(function* () {
    const { rows, store } = yield* made
    const take = (tokens: number, allowOverflow = false) =>
      store.tokenBucket({ key: "b", tokens, limit: 3, refillRate, allowOverflow })
    const row = { name: "b", kind: "bucket" }
    assert.deepStrictEqual(yield* take(1), [2, 0])
    assert.deepStrictEqual(yield* rows, [{ ...row, amount: 2, instant: 1000, asked: 2, expires_at: 1100 }])
    yield* TestClock.setTime(1050)
    assert.deepStrictEqual(yield* take(1), [1, 50])
    assert.deepStrictEqual(yield* rows, [{ ...row, amount: 1, instant: 1000, asked: 1, expires_at: 1200 }])
    yield* TestClock.setTime(1250)
    assert.deepStrictEqual(yield* take(3), [0, 0])
    assert.deepStrictEqual(yield* rows, [{ ...row, amount: 0, instant: 1250, asked: 0, expires_at: 1550 }])
    assert.deepStrictEqual(yield* take(1), [-1, 0])
    assert.deepStrictEqual(yield* rows, [{ ...row, amount: 0, instant: 1250, asked: -1, expires_at: 1550 }])
    assert.deepStrictEqual(yield* take(5, true), [-5, 0])
    assert.deepStrictEqual(yield* rows, [{ ...row, amount: -5, instant: 1250, asked: -5, expires_at: 2050 }])
  })
)

/** The client of a database in memory, whose statements are those for PostgreSQL once `isPostgres` says so. */
const speaking = Effect.gen(function* () {
  const sql = Context.get(yield* Layer.build(sqlite(":memory:")), SqlClient.SqlClient)
  const state = { isPostgres: false }
  const dialect: SqlClient.SqlClient["onDialectOrElse"] = (options) =>
    state.isPostgres ? (options.pg ?? options.orElse)() : sql.onDialectOrElse(options)
  const tag = (...given: ReadonlyArray<never>) =>
    (sql as unknown as (...given: ReadonlyArray<never>) => unknown)(...given)
  // the same client, but for its dialect
  const made = Object.assign(tag, sql, { onDialectOrElse: dialect }) as unknown as SqlClient.SqlClient
  const client: SqlClient.SqlClient = Object.assign(made, { withoutTransforms: () => made })
  return { client, state }
})

it.effect(
  "a bucket fills by whole tokens on PostgreSQL too, and rows that another process removes are left to it [P1721]",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const { client, state } = yield* speaking
      const store = yield* Effect.provideService(rateStore, SqlClient.SqlClient, client)
      const oldest = removed(client, "kintsugi_rates", ["name"], client`expires_at < 5`)
      assert.notInclude(oldest.compile()[0], "SKIP LOCKED")
      state.isPostgres = true
      const take = store.tokenBucket({ key: "b", tokens: 1, limit: 3, refillRate, allowOverflow: false })
      assert.deepStrictEqual(yield* take, [2, 0])
      yield* TestClock.setTime(1199)
      assert.deepStrictEqual(yield* take, [2, 0])
      yield* TestClock.setTime(1250)
      assert.deepStrictEqual(yield* take, [1, 51])
      const locking = removed(client, "kintsugi_rates", ["name"], client`expires_at < 5`)
      assert.include(locking.compile()[0], "FOR UPDATE SKIP LOCKED")
    })
)

it.effect("the first take of a bucket is from a full one [P1721]", () =>
  Effect.gen(function* () {
    const { rows, store } = yield* made
    const take = (key: string, tokens: number, allowOverflow: boolean) =>
      store.tokenBucket({ key, tokens, limit: 3, refillRate, allowOverflow })
    assert.deepStrictEqual(yield* take("above", 4, false), [-1, 0])
    assert.deepStrictEqual(yield* take("debt", 4, true), [-1, 0])
    assert.deepStrictEqual(yield* take("whole", 3, false), [0, 0])
    const row = { kind: "bucket", instant: 1000 }
    assert.deepStrictEqual(yield* rows, [
      { name: "above", ...row, amount: 3, asked: -1, expires_at: 1000 },
      { name: "debt", ...row, amount: -1, asked: -1, expires_at: 1400 },
      { name: "whole", ...row, amount: 0, asked: 0, expires_at: 1300 }
    ])
  })
)

it.effect("a rate is learned from a wait, the calls after it and the next refusal [P1721]", () =>
  Effect.gen(function* () {
    const { learned, store } = yield* made
    const key = "l"
    const fallback = { fallbackLimit: 1, fallbackWindow: Duration.seconds(5) }
    const take = (tokens: number) =>
      Effect.map(store.adaptiveConsume({ key, tokens, ...fallback }), ({ delay, epoch, phase }) => [
        Duration.toMillis(delay),
        epoch,
        phase
      ])
    const refuse = (epoch: number, millis: number) =>
      store.adaptiveFeedback({ key, epoch, tokens: 1, status: 429, retryAfter: Duration.millis(millis) })
    assert.deepStrictEqual(yield* take(1), [0, 0, "inactive"])
    // no refusal, or one without a wait, teaches nothing
    yield* store.adaptiveFeedback({ key, epoch: 0, tokens: 1, status: 200, retryAfter: Duration.seconds(1) })
    yield* store.adaptiveFeedback({ key, epoch: 0, tokens: 1, status: 429, retryAfter: undefined })
    assert.deepStrictEqual(yield* learned, [])
    const first = {
      name: key,
      phase: "cooldown",
      epoch: 0,
      cooldown_until: 1500,
      learning_started: 0,
      observed: 0,
      learned_limit: 0,
      learned_window: 0,
      expires_at: 61_500
    }
    yield* refuse(0, 500)
    assert.deepStrictEqual(yield* learned, [first])
    assert.deepStrictEqual(yield* take(2), [500, 0, "cooldown"])
    assert.deepStrictEqual(yield* learned, [first])
    yield* TestClock.setTime(1500)
    assert.deepStrictEqual(yield* take(2), [0, 1, "learning"])
    const second = { ...first, phase: "learning", epoch: 1, learning_started: 1500, observed: 2, expires_at: 66_500 }
    assert.deepStrictEqual(yield* learned, [second])
    yield* TestClock.setTime(1600)
    assert.deepStrictEqual(yield* take(3), [0, 1, "learning"])
    assert.deepStrictEqual(yield* learned, [{ ...second, observed: 5 }])
    yield* refuse(1, 400)
    const third = {
      ...second,
      phase: "learned",
      epoch: 2,
      cooldown_until: 2000,
      observed: 4,
      learned_limit: 4,
      learned_window: 500,
      expires_at: 62_100
    }
    assert.deepStrictEqual(yield* learned, [third])
    assert.deepStrictEqual(yield* take(2), [400, 2, "learned"])
    assert.deepStrictEqual(yield* learned, [{ ...third, observed: 6, cooldown_until: 2250 }])
  })
)

it.effect.each([
  { takes: 100, at: 62_000, left: ["rate", "learned"] },
  { takes: 99, at: 62_001, left: ["rate", "learned"] },
  { takes: 100, at: 62_001, left: ["learned"] },
  { takes: 100, at: 121_500, left: ["learned"] },
  { takes: 100, at: 121_501, left: [] }
])("take $takes at $at leaves of two rows that have expired: $left [P1721]", ({ at, left, takes }) =>
  Effect.gen(function* () {
    const { learned, rows, store } = yield* made
    // they expire at 2000 and at 61500
    yield* store.fixedWindow({ key: "rate", tokens: 1, limit: 3, refillRate: Duration.seconds(1) })
    const retryAfter = Duration.millis(500)
    yield* store.adaptiveFeedback({ key: "learned", epoch: 0, tokens: 1, status: 429, retryAfter })
    const none = { key: "none", tokens: 1, fallbackLimit: 1, fallbackWindow: Duration.seconds(5) }
    for (let nth = 2; nth < takes; nth++) yield* store.adaptiveConsume(none)
    yield* TestClock.setTime(at)
    yield* store.adaptiveConsume(none)
    const found = [...(yield* rows), ...(yield* learned)].map((row) => ("name" in row ? row.name : undefined))
    assert.deepStrictEqual(found, left)
  })
)

it.effect("a removal that fails is a line of the log, and the take counts [P1721]", () => {
  const logged: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ message }) => void logged.push(message))
  return Effect.gen(function* () {
    const { drop, store } = yield* made
    yield* drop
    // those of the migration
    logged.length = 0
    const take = store.fixedWindow({ key: "w", tokens: 1, limit: 1000, refillRate })
    for (let nth = 1; nth < 100; nth++) yield* take
    assert.deepStrictEqual(logged, [])
    assert.deepStrictEqual(yield* take, [100, 10_000])
    assert.lengthOf(logged, 1)
    const [[message, about] = []] = logged as ReadonlyArray<ReadonlyArray<unknown>>
    assert.strictEqual(message, "The table of rate limits has not removed old rows")
    assert.match((about as { readonly error: string }).error, /SqlError|no such table/)
  }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Debug"))
})

it.effect("a failure names the call of the store [P1721]", () =>
  Effect.gen(function* () {
    const { store } = yield* Effect.scoped(made)
    const key = "k"
    const bucket = { key, tokens: 1, limit: 1, refillRate, allowOverflow: false }
    const fallback = { fallbackLimit: 1, fallbackWindow: Duration.seconds(5) }
    const refusal = { key, epoch: 0, tokens: 1, status: 429, retryAfter: Duration.seconds(1) }
    const calls = {
      fixedWindow: store.fixedWindow(bucket),
      tokenBucket: store.tokenBucket(bucket),
      adaptiveConsume: store.adaptiveConsume({ key, tokens: 1, ...fallback }),
      adaptiveFeedback: store.adaptiveFeedback(refusal)
    }
    for (const [name, call] of Object.entries(calls)) {
      const { reason } = yield* Effect.flip(Effect.asVoid(call))
      assert.strictEqual(reason.message, `The table of rate limits failed at '${name}'`)
      assert.isDefined((reason as { readonly cause?: unknown }).cause)
    }
  })
)

it.effect.each([
  { name: "RateLimits.layerSql", building: Effect.asVoid(Layer.build(RateLimits.layerSql)) },
  { name: "SharedBudget.layerSql", building: Effect.asVoid(Layer.build(SharedBudget.layerSql)) }
])("$name refuses other databases by name [P1720 P1721]", ({ building, name }) =>
  Effect.gen(function* () {
    const other = {
      withoutTransforms: () => other,
      onDialectOrElse: ({ orElse }: { readonly orElse: () => unknown }) => orElse()
    }
    // a client with only what tells its database
    const client = Layer.succeed(SqlClient.SqlClient, other as unknown as SqlClient.SqlClient)
    const exit = yield* Effect.exit(Effect.provide(building, client))
    assert(Exit.isFailure(exit))
    const defect = Cause.squash(exit.cause)
    assert.instanceOf(defect, TypeError)
    assert.strictEqual((defect as TypeError).message, `${name} works on PostgreSQL, PGlite and SQLite`)
  })
)
