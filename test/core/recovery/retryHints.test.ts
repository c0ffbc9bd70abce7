import * as Factories from "@kintsugi/core/Factories"
import { assert, describe, it } from "@effect/vitest"
import { Backoff, LlmError, Recovery } from "@kintsugi/core"
import { Duration, Effect, Schedule } from "effect"
import { failed, play, type Script } from "../../_support/laws.ts"
import { drawing, hinting, waits } from "../../_support/waits.ts"

const errors = (count: number): ReadonlyArray<object> => Array.from({ length: count }, () => ({}))

describe("hints", () => {
  it.effect("a hint is a floor under jitter and cap, and never shortens a wait [L204]", () =>
    Effect.gen(function* () {
      const schedule = Backoff.make({ retries: 3, initialBackoff: 400, maxBackoff: 500, jitter: "full" })
      assert.deepStrictEqual(yield* drawing(0)(waits(schedule, [5000, undefined, 100].map(hinting))), [5000, 0, 100])
      assert.deepStrictEqual(yield* drawing(0.5)(waits(schedule, [100, 100, 5000].map(hinting))), [200, 250, 5000])
    })
  )

  it.effect("the hint of a cause counts as well, also through several causes and in a circle of them [L204]", () =>
    Effect.gen(function* () {
      const deep = { cause: { message: "no hint", cause: { cause: hinting(2000) } } }
      const circle: { cause?: unknown } = {}
      circle.cause = { cause: circle }
      const own = { ...hinting(1000), cause: hinting(9000) }
      const schedule = Backoff.make({ retries: 9 })
      assert.deepStrictEqual(
        yield* waits(schedule, [deep, circle, own, { retryAfter: 5 }, "text"]),
        [2000, 0, 1000, 0, 0]
      )
    })
  )

  it.effect("a hint is looked for in 32 errors, each the cause of the one before [L204]", () =>
    Effect.gen(function* () {
      const beneath = (count: number): object => (count === 0 ? hinting(2000) : { cause: beneath(count - 1) })
      const schedule = Backoff.make({ retries: 9 })
      assert.deepStrictEqual(yield* waits(schedule, [beneath(31), beneath(32)]), [2000, 0])
    })
  )

  it.effect(
    "a hint above maxHint, 60 seconds by default, ends it without a wait; one of maxHint is kept [L205 P804]",
    () =>
      Effect.gen(function* () {
        const untold = Backoff.make({ retries: 3 })
        assert.deepStrictEqual(yield* waits(untold, [60_000, 60_001, 1].map(hinting)), [60_000])
        const hinted = Backoff.make({ retries: 3, initialBackoff: 10, maxHint: "2 minutes" })
        assert.deepStrictEqual(yield* waits(hinted, [120_000, 120_001].map(hinting)), [120_000])
        const script: Script = { steps: [], rest: { does: "fail", tag: "A", hint: 60_001, takes: 7 } }
        const { attempts, end, exit } = yield* play(script, Effect.retry(untold))
        assert.deepStrictEqual([attempts.length, end, exit], [1, 7, failed("A", 1)])
      })
  )

  it.effect(
    "Recovery.retry keeps the maxHint that a schedule of ours was made with, and gives others 60 seconds [L205 P804]",
    () =>
      Effect.gen(function* () {
        const maxHint = "2 minutes"
        const waited = (schedule: Schedule.Schedule<unknown, object>, hint: number) =>
          waits(Recovery.toSchedule(Recovery.retry<object, unknown, never, never>(schedule)), [hinting(hint)])
        for (const schedule of [
          Backoff.make({ retries: 1, maxHint }),
          Backoff.honouringHints({ jitter: "none", maxHint }),
          Backoff.withHints(Schedule.recurs(1), { maxHint })
        ]) {
          assert.deepStrictEqual(yield* waited(schedule, 90_000), [90_000])
          assert.deepStrictEqual(yield* waited(schedule, 120_001), [])
        }
        assert.deepStrictEqual(yield* waited(Schedule.recurs(1), 60_000), [60_000])
        assert.deepStrictEqual(yield* waited(Schedule.recurs(1), 60_001), [])
      })
  )

  it.effect("a hint changes its own wait alone [L206 P805]", () =>
    Effect.gen(function* () {
      const schedule = Backoff.make({ retries: 5, initialBackoff: "1 second" })
      assert.deepStrictEqual(
        yield* waits(schedule, [undefined, 7000, undefined, 30_000, undefined].map(hinting)),
        [1000, 7000, 4000, 30_000, 16_000]
      )
    })
  )

  it.effect("a hint of 0 is a wait of 1 ms, never a hot loop [L208 T13]", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* waits(Backoff.make({ retries: 2 }), [0, -5].map(hinting)), [1, 1])
      assert.deepStrictEqual(yield* waits(Backoff.withHints(Schedule.recurs(1)), [hinting(0)]), [1])
      const slower = Backoff.make({ retries: 1, initialBackoff: 5 })
      assert.deepStrictEqual(yield* waits(slower, [hinting(0)]), [5])
    })
  )

  it.effect("withHints gives any schedule that floor and that end, and leaves its output [L204 L205]", () =>
    Effect.gen(function* () {
      const schedule = Backoff.withHints(Schedule.exponential(100), { maxHint: "5 seconds" })
      assert.deepStrictEqual(
        yield* waits(schedule, [undefined, 150, 1000, undefined, 5001, undefined].map(hinting)),
        [100, 200, 1000, 800]
      )
      const step = yield* Schedule.toStep(Backoff.withHints(Schedule.recurs(2)))
      assert.strictEqual((yield* step(0, hinting(9)))[0], 0)
      assert.strictEqual((yield* step(0, hinting(9)))[0], 1)
    })
  )
})

describe("honouringHints", () => {
  it.effect("makes five attempts from 1 second up to 30 with full jitter, and takes other options [P804]", () =>
    Effect.gen(function* () {
      const schedule = Backoff.honouringHints()
      assert.deepStrictEqual(yield* drawing(0.5)(waits(schedule, errors(9))), [500, 1000, 2000, 4000])
      assert.deepStrictEqual(yield* drawing(0)(waits(schedule, [7000, undefined].map(hinting))), [7000, 0])
      assert.deepStrictEqual(
        yield* waits(Backoff.honouringHints({ retries: 7, jitter: "none" }), errors(9)),
        [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
      )
      assert.deepStrictEqual(
        yield* waits(Backoff.honouringHints({ maxAttempts: 2, jitter: "none", initialBackoff: 9 }), errors(9)),
        [9]
      )
      assert.deepStrictEqual(
        yield* waits(Backoff.honouringHints({ retries: 2, jitter: "none", initialBackoff: 60_000 }), errors(9)),
        [60_000, 60_000]
      )
      assert.deepStrictEqual(
        yield* waits(Backoff.honouringHints({ retries: 2, jitter: "none", maxBackoff: 500 }), errors(9)),
        [500, 500]
      )
    })
  )
})

describe("suggested", () => {
  const advised = (suggestedDelay: Duration.Duration, maxAttempts: number, more: object = {}) => ({
    isRetryable: true,
    suggestedDelay,
    maxAttempts,
    ...more
  })

  it.effect("suggested waits as long and tries as often as each error itself advises [T33]", () =>
    Effect.gen(function* () {
      const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
      const limited = Factories.apiRateLimit("https://example.org", "10 seconds")
      assert.deepStrictEqual(
        yield* waits(
          Backoff.suggested(),
          Array.from({ length: 9 }, () => limited)
        ),
        [10_000, 10_000, 10_000, 10_000, 10_000]
      )
      const found = yield* waits(Backoff.suggested(), [overloaded, limited, overloaded, limited])
      assert.deepStrictEqual(found.slice(0, 2), [Duration.toMillis(overloaded.suggestedDelay), 10_000])
      const two = advised(Duration.seconds(2), 2)
      const four = advised(Duration.seconds(3), 4)
      assert.deepStrictEqual(yield* waits(Backoff.suggested(), [two, four, four, four]), [2000, 3000, 3000])
      assert.deepStrictEqual(yield* waits(Backoff.suggested(), [four, two]), [3000])
    })
  )

  it.effect("suggested fills in what an error leaves open that is retryable: a second, four attempts [T33 P1326]", () =>
    Effect.gen(function* () {
      const delay = Duration.seconds(2)
      for (const [error, expected] of [
        [{ isRetryable: true }, [1000, 1000, 1000]],
        [{ isRetryable: true, suggestedDelay: 5, maxAttempts: 3 }, [1000, 1000]],
        [{ isRetryable: true, suggestedDelay: delay, maxAttempts: "3" }, [2000, 2000, 2000]],
        [advised(delay, Number.NaN), [2000, 2000, 2000]]
      ] as const) {
        assert.deepStrictEqual(yield* waits(Backoff.suggested(), [error, error, error, error]), expected)
      }
    })
  )

  it.effect("suggested stops at once at an error that is not retryable, or has had its one attempt [T33]", () =>
    Effect.gen(function* () {
      const delay = Duration.seconds(1)
      for (const error of [
        LlmError.AuthenticationError.make({ model: "m", detail: "no" }),
        advised(delay, 1),
        { ...advised(delay, 3), isRetryable: "yes" },
        new Error("plain"),
        undefined
      ]) {
        assert.deepStrictEqual(yield* waits(Backoff.suggested(), [error]), [])
      }
    })
  )

  it.effect("suggested heeds hints, maxHint and a deadline [T33]", () =>
    Effect.gen(function* () {
      const error = advised(Duration.seconds(2), 9, hinting(5000))
      assert.deepStrictEqual(yield* waits(Backoff.suggested(), [error]), [5000])
      assert.deepStrictEqual(yield* waits(Backoff.suggested({ maxHint: "4 seconds" }), [error]), [])
      assert.deepStrictEqual(yield* waits(Backoff.suggested({ deadline: 5000 }), [error]), [5000])
      assert.deepStrictEqual(yield* waits(Backoff.suggested({ deadline: 5000 }), [error], 1), [])
    })
  )

  it.effect("under Effect.retry or in a table, suggested is TnsAI's sleep, then retry [T33 A516]", () =>
    Effect.gen(function* () {
      const limited = Factories.apiRateLimit("https://example.org", "10 seconds")
      const script: Script = { steps: [], rest: { does: "fail", tag: "A", takes: 1000 } }
      const failingAs = (
        guard: (self: Effect.Effect<string, LlmError.RateLimitError>) => Effect.Effect<string, unknown>
      ) => play(script, (scripted) => Effect.orDie(guard(Effect.mapError(scripted, () => limited))))
      const inTable = yield* failingAs(Recovery.onError({ RateLimitError: Recovery.retry(Backoff.suggested()) }))
      assert.deepStrictEqual(
        inTable.attempts.map(({ start }) => start),
        [0, 11_000, 22_000, 33_000, 44_000, 55_000]
      )
      assert.strictEqual(inTable.end, 56_000)
      assert.deepStrictEqual(yield* failingAs(Effect.retry(Backoff.suggested())), inTable)
    })
  )
})
