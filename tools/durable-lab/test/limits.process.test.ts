/** Shared limits on PostgreSQL with three processes, and on PGlite. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { Durable, SharedBudget } from "@kintsugi/durable"
import { Effect, Layer, Redacted } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { root } from "../../../scripts/files.ts"
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

  const read = Effect.flatMap(SharedBudget.SharedBudgets, (store) => store.read(of, Date.now(), lease))
  const emptied = Effect.flatMap(SharedBudget.SharedBudgets, (store) =>
    Effect.flatMap(store.read(of, Date.now(), lease), ({ spent }) =>
      store.settle({ ...of, amount: 0, lease: -2 }, -spent)
    )
  )

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
    const now = Date.now()
    const reserving = (at: number) =>
      using(
        Effect.flatMap(SharedBudget.SharedBudgets, (store) =>
          store.reserve({ ...of, amount: 3000, limit: 3000, at, lease })
        )
      )
    assert.deepStrictEqual(await reserving(now), { spent: 0, reserved: 100 })
    assert.deepInclude(await reserving(now + 2 * lease), { amount: 3000 })
  })
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
