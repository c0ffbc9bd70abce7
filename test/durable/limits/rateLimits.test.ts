/** Rate limits in a table: each answer is that of Effect's store in memory, and several processes share them. */
import { assert, it } from "@effect/vitest"
import { LlmError, Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { RateLimits } from "@kintsugi/durable"
import { Resilience } from "@kintsugi/providers"
import { Context, Duration, Effect, Exit, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { seed } from "../../_support/cases.ts"
import { sqlite } from "../_support/sqlite.ts"
import { database } from "./_support/budgets.ts"
import { calls, lesson, played } from "./_support/rates.ts"

const storeOf = (layer: Layer.Layer<RateLimiter.RateLimiterStore>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, RateLimiter.RateLimiterStore))

const connectionTo = (path: string) => storeOf(Layer.provide(RateLimits.layerSql, sqlite(path)))

it("answers any calls as the store in memory does [P1721]", () =>
  fc.assert(
    fc.asyncProperty(calls, async (all) => {
      const play = (store: typeof memory) => Effect.flatMap(store, (made) => played(made, all))
      const memory = storeOf(RateLimiter.layerStoreMemory)
      const table = Effect.flatMap(database, connectionTo)
      const on = (store: typeof memory) =>
        Effect.runPromise(Effect.scoped(Effect.provide(play(store), TestClock.layer())))
      assert.deepStrictEqual(await on(table), await on(memory))
    }),
    { seed, numRuns: 20, examples: [[lesson]] }
  ))

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

/** A model behind the guard of a process that has its own connection. */
const guarded = (path: string, options: Resilience.Options, model: Layer.Layer<Model.Model>) =>
  Effect.gen(function* () {
    const store = yield* connectionTo(path)
    const guard = yield* Effect.provideService(Resilience.make(options), RateLimiter.RateLimiterStore, store)
    return Context.get(yield* Layer.build(guard(model)), Model.Model)
  })

const ok = ScriptedModel.replies(
  ScriptedModel.reply({ content: [{ type: "text", text: "ok" }], usage: Usage.make({ inputTokens: 40 }) })
)

const shared = [
  { of: { requests: 3, algorithm: "fixed-window" }, admitted: [true, true, true, false, false], wait: 60 },
  { of: { requests: 3, algorithm: "token-bucket" }, admitted: [true, true, true, false, false], wait: 20 },
  // two replies of 40 tokens each
  { of: { tokens: 60 }, admitted: [true, true, false, false, false], wait: 80 }
] as const

// Finds out nothing of its own: its subject is the guard of the providers, in two processes with one table
it.effect.each(shared)("two processes share the limit $of [P1721]", ({ admitted, of, wait }) =>
  Effect.gen(function* () {
    const path = yield* database
    const limits = [{ ...of, per: "1 minute", maxWait: 0 }] as const
    const model = ScriptedModel.answering(() => ok)
    const processes = [yield* guarded(path, { limits }, model), yield* guarded(path, { limits }, model)]
    const exits = yield* Effect.forEach([0, 1, 0, 1, 0], (nth) => Effect.exit(processes[nth]!.generate(request)))
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [...admitted])
    const error = yield* Effect.flip(processes[1]!.generate(request))
    assert.instanceOf(error, LlmError.RateLimitError)
    assert.deepStrictEqual(error.retryAfter, Duration.seconds(wait))
    yield* TestClock.adjust(Duration.seconds(wait))
    yield* processes[1]!.generate(request)
  })
)

it.effect("rows that answer as no row does are removed, and the tables do not grow [P1721]", () =>
  Effect.gen(function* () {
    const path = yield* database
    const client = yield* Layer.build(sqlite(path))
    const sql = Context.get(client, SqlClient.SqlClient)
    const store = yield* storeOf(RateLimits.layerSql.pipe(Layer.provide(Layer.succeedContext(client))))
    const rows = Effect.all([sql`SELECT name FROM kintsugi_rates`, sql`SELECT name FROM kintsugi_learned_rates`])
    const refillRate = Duration.seconds(1)
    const take = { tokens: 1, limit: 10, refillRate }
    const slow = { key: "slow", tokens: 10, limit: 10, refillRate: Duration.hours(1), allowOverflow: true }
    yield* store.tokenBucket(slow)
    yield* store.fixedWindow({ ...slow, limit: 20 })
    // as a process of an older release makes it
    yield* sql`INSERT INTO kintsugi_rates (name, kind, amount, instant, asked) VALUES ('older', 'bucket', 0, 0, 0)`
    for (let nth = 0; nth < 120; nth++) {
      const key = `tenant ${nth}`
      yield* store.fixedWindow({ ...take, key })
      yield* store.tokenBucket({ ...take, key, allowOverflow: false })
      const retryAfter = Duration.seconds(1)
      if (nth % 10 === 0) yield* store.adaptiveFeedback({ key, epoch: 0, tokens: 1, status: 429, retryAfter })
      yield* TestClock.adjust("61 seconds")
    }
    const [rates, learned] = yield* rows
    // those of the last 60 seconds and of the 100 takes after the last removal, and those that still count
    assert.isAtMost(rates.length, 2 * 2 + 100 + 3)
    assert.isAtMost(learned.length, 10)
    assert.lengthOf(
      rates.filter(({ name }) => name === "slow"),
      2
    )
    assert.isDefined(rates.find(({ name }) => name === "older"))
    // what still counts is as it was: an empty bucket, which 7,320 seconds have filled by 2
    const [left] = yield* store.tokenBucket({ ...slow, tokens: 1 })
    assert.strictEqual(left, 1)
    assert.deepStrictEqual(yield* store.tokenBucket({ ...take, key: "tenant 0", allowOverflow: false }), [9, 0])
  }).pipe(Effect.scoped)
)

// Finds out nothing of its own: its subject is the guard of the providers, in two processes with one table
it.effect("a process waits as long as a server has asked another one [P1721]", () =>
  Effect.gen(function* () {
    const path = yield* database
    const refused = LlmError.RateLimitError.make({ service: "s", provider: "p", retryAfter: Duration.seconds(30) })
    const scripted = yield* ScriptedModel.make(ok, ScriptedModel.fails(refused), ok)
    const options = { adaptive: { maxWait: "10 seconds" } } as const
    const [one, two] = [yield* guarded(path, options, scripted.layer), yield* guarded(path, options, scripted.layer)]
    yield* one.generate(request)
    yield* Effect.flip(one.generate(request))
    const error = yield* Effect.flip(two.generate(request))
    assert.instanceOf(error, LlmError.RateLimitError)
    assert.deepStrictEqual(error.retryAfter, Duration.seconds(30))
    assert.lengthOf(scripted.requests, 2)
    yield* TestClock.adjust("30 seconds")
    yield* two.generate(request)
  })
)

it.effect("a table that fails is a typed failure, or lets calls through [P1721]", () =>
  Effect.gen(function* () {
    const path = yield* database
    const closed = yield* Effect.scoped(connectionTo(path))
    const failure = yield* Effect.flip(
      closed.fixedWindow({ key: "k", tokens: 1, refillRate: Duration.seconds(1), limit: 1 })
    )
    assert.strictEqual(failure.reason._tag, "RateLimitStoreError")
    const model = ScriptedModel.answering(() => ok)
    const withPolicy = (onStoreError: "allow" | "fail") =>
      Effect.gen(function* () {
        const limits = [{ requests: 1, per: "1 minute" }] as const
        const guard = yield* Resilience.make({ limits, onStoreError }).pipe(
          Effect.provideService(RateLimiter.RateLimiterStore, closed)
        )
        const { generate } = Context.get(yield* Layer.build(guard(model)), Model.Model)
        return yield* Effect.exit(generate(request))
      })
    assert.isTrue(Exit.isSuccess(yield* withPolicy("allow")))
    const error = yield* Effect.flip(Effect.flatten(withPolicy("fail")))
    assert.instanceOf(error, LlmError.UnknownLlmError)
    assert.instanceOf(error.cause, RateLimiter.RateLimiterError)
  })
)
