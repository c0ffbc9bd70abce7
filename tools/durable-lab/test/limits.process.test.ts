/** Shared limits on PostgreSQL with three processes, and on PGlite. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { Durable, RateLimits, SharedBudget } from "@kintsugi/durable"
import { Clock, Context, Duration, Effect, Exit, Layer, Redacted } from "effect"
import { RateLimiter } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { lesson, played } from "../../../test/durable/limits/_support/rates.ts"
import { folder as lab } from "../src/folder.ts"
import { type Postgres, postgres, startPostgres } from "../src/postgres.ts"

const children = new Set<ChildProcessByStdio<Writable, Readable, null>>()

afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
})

interface Said {
  readonly ready?: true
  readonly hangs?: true
  readonly answered?: number
  readonly refusal?: string
}

/** A process that spends of the budget of all, once it is told to begin. */
const spender = (url: string, used: string) => {
  const child = spawn(process.execPath, [join(root, lab, "src/processes/spender.ts"), url, used], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Said> => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done === true) throw new Error("the spender has ended")
      // what is logged is no JSON
      if (value.startsWith('{"')) return JSON.parse(value)
    }
  }
  const killed = () => new Promise((resolve) => child.once("close", resolve).kill("SIGKILL"))
  return { next, killed, begin: () => child.stdin.write("begin\n") }
}

const of = { key: "all", unit: "tokens", per: 0, since: 0 } as const
const lease = 600_000

const found = postgres.find()

describe.skipIf(found === undefined)("a budget that three processes share on PostgreSQL", () => {
  let server: Postgres
  const url = (database: string) => `postgres://postgres@127.0.0.1:${server.port}/${database}`
  const using = <A, E>(effect: Effect.Effect<A, E, SharedBudget.SharedBudgets>) =>
    Effect.runPromise(
      Effect.provide(
        effect,
        Layer.provide(
          SharedBudget.layerSql,
          Durable.layerPostgres({ url: Redacted.make(url("postgres")), runner: "client" })
        )
      )
    )

  beforeAll(async () => {
    server = await startPostgres(found ?? "")
  }, 120_000)
  afterAll(() => server.stop())

  /** Three processes spend until each is refused; how often they were answered. */
  const spending = async (used: string): Promise<number> => {
    const spenders = [1, 2, 3].map(() => spender(url("postgres"), used))
    // all make the table at once
    for (const one of spenders) assert.isTrue((await one.next()).ready)
    for (const { begin } of spenders) begin()
    const said = await Promise.all(spenders.map(({ next }) => next()))
    assert.deepStrictEqual(
      said.map(({ refusal }) => refusal),
      Array.from({ length: 3 }, () => "QuotaExhaustedError")
    )
    return said.reduce((sum, { answered = 0 }) => sum + answered, 0)
  }

  const read = Effect.gen(function* () {
    const store = yield* SharedBudget.SharedBudgets
    return yield* store.read(of, yield* Clock.currentTimeMillis, lease)
  })
  /** Takes away what was spent, for the next test. */
  const emptied = Effect.gen(function* () {
    const store = yield* SharedBudget.SharedBudgets
    const { spent } = yield* read
    yield* store.settle({ ...of, amount: 0, lease: -2 }, -spent)
  })

  it("admits exactly the limit if calls use what they reserve [P1720]", { timeout: 120_000 }, async () => {
    assert.strictEqual(await spending("100"), 30)
    assert.deepStrictEqual(await using(read), { spent: 3000, reserved: 0 })
    await using(emptied)
  })

  it("exceeds the limit at most by what calls in flight use beyond that [P1720]", { timeout: 120_000 }, async () => {
    const answered = await spending("150")
    const { reserved, spent } = await using(read)
    assert.deepStrictEqual([spent, reserved], [answered * 150, 0])
    assert.isAbove(spent, 2900)
    assert.isAtMost(spent, 3000 + 3 * 50)
    await using(emptied)
  })

  it("frees what a killed process has reserved, after its lease [P1720]", { timeout: 120_000 }, async () => {
    const dead = spender(url("postgres"), "hang")
    assert.isTrue((await dead.next()).ready)
    dead.begin()
    assert.isTrue((await dead.next()).hangs)
    await dead.killed()
    const reserving = (after: number) =>
      using(
        Effect.gen(function* () {
          const store = yield* SharedBudget.SharedBudgets
          const at = (yield* Clock.currentTimeMillis) + after
          return yield* store.reserve({ ...of, amount: 3000, limit: 3000, at, lease })
        })
      )
    assert.deepStrictEqual(await reserving(0), { spent: 0, reserved: 100 })
    assert.deepInclude(await reserving(2 * lease), { amount: 3000 })
  })

  it("answers rate limits as the store in memory, and admits no more than a limit [P1721]", async () => {
    const database = () => Durable.layerPostgres({ url: Redacted.make(url("postgres")), runner: "client" })
    const storeOf = <E>(layer: Layer.Layer<RateLimiter.RateLimiterStore, E>) =>
      Effect.map(Layer.build(layer), (context) => Context.get(context, RateLimiter.RateLimiterStore))
    const process = Effect.suspend(() => storeOf(Layer.provide(RateLimits.layerSql, database())))
    const windows = ["window", "bucket", "debt", "overflow"] as const
    const calls = [
      ...lesson,
      ...windows.flatMap((of) => [1, 2, 3, 1].map((tokens) => ({ of, key: "k '1'", tokens, millis: 250 })))
    ]
    await Effect.gen(function* () {
      const processes = yield* Effect.all([process, process, process])
      const play = (store: (typeof processes)[0]) => Effect.provide(played(store, calls), TestClock.layer())
      assert.deepStrictEqual(yield* play(processes[0]), yield* play(yield* storeOf(RateLimiter.layerStoreMemory)))
      const limits = yield* Effect.forEach(processes, (store) =>
        Effect.provideService(RateLimiter.make, RateLimiter.RateLimiterStore, store)
      )
      const exits = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, nth) => limits[nth % 3] ?? limits[0]),
        (limiter) => Effect.exit(limiter!.consume({ key: "all", limit: 10, window: Duration.hours(1) })),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(exits.filter(Exit.isSuccess), 10)
    }).pipe(Effect.scoped, Effect.runPromise)
  }, 120_000)

  it("removes rows that have expired, three processes at once [P1720 P1721]", async () => {
    const database = () => Durable.layerPostgres({ url: Redacted.make(url("postgres")), runner: "client" })
    await Effect.gen(function* () {
      const context = yield* Layer.build(database())
      const sql = Context.get(context, SqlClient.SqlClient)
      const process = Effect.suspend(() => Layer.build(Layer.provide(RateLimits.layerSql, database())))
      const stores = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(process, (services) => Context.get(services, RateLimiter.RateLimiterStore))
      )
      const takes = (prefix: string) =>
        Effect.forEach(
          stores.flatMap((store, nth) => Array.from({ length: 150 }, (_, take) => ({ store, key: `${nth} ${take}` }))),
          ({ key, store }) =>
            store.tokenBucket({
              key: `${prefix} ${key}`,
              tokens: 1,
              limit: 2,
              refillRate: Duration.seconds(1),
              allowOverflow: false
            }),
          { concurrency: 9 }
        )
      const rows = (prefix: string) =>
        sql<{ readonly count: string }>`SELECT COUNT(*) AS count FROM kintsugi_rates WHERE name LIKE ${`${prefix} %`}`
      const counted = (prefix: string) => Effect.map(rows(prefix), ([row]) => Number(row?.count))
      yield* takes("early")
      assert.strictEqual(yield* counted("early"), 450)
      yield* TestClock.adjust("2 minutes")
      yield* takes("later")
      assert.deepStrictEqual([yield* counted("early"), yield* counted("later")], [0, 450])
      const budgets = Context.get(
        yield* Layer.build(Layer.provide(SharedBudget.layerSql, Layer.succeedContext(context))),
        SharedBudget.SharedBudgets
      )
      for (let since = 0; since < 1200; since++) {
        yield* budgets.reserve({ key: "old", unit: "tokens", per: 1, since, amount: 1, limit: 9, at: since, lease })
      }
      assert.deepStrictEqual([yield* budgets.removeOlder(1151), yield* budgets.removeOlder(1151)], [1000, 150])
    }).pipe(Effect.provide(TestClock.layer()), Effect.scoped, Effect.runPromise)
  }, 120_000)
})

it("three calls at a limit on PGlite take turns at one row [P1720]", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-limits-"))
  try {
    const layer = Layer.provide(SharedBudget.layerSql, Durable.layerPglite({ folder }))
    const result = await Effect.gen(function* () {
      const store = yield* SharedBudget.SharedBudgets
      const call = Effect.gen(function* () {
        const held = yield* store.reserve({ ...of, amount: 100, limit: 1000, at: 0, lease })
        if (!("amount" in held)) return 0
        yield* store.settle(held, 100)
        return 1
      })
      const answered = yield* Effect.all(
        Array.from({ length: 20 }, () => call),
        { concurrency: 3 }
      )
      return [answered.filter((one) => one === 1).length, yield* store.read(of, 0, lease)]
    }).pipe(Effect.provide(layer), Effect.runPromise)
    assert.deepStrictEqual(result, [10, { spent: 1000, reserved: 0 }])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
