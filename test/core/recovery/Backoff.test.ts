import { assert, describe, it } from "@effect/vitest"
import { Backoff, LlmError, Recovery } from "@kintsugi/core"
import { Duration, Effect, Random, Schedule } from "effect"
import { bare, failed, play, type Script } from "../../_support/laws.ts"
import { drawing, hinting, waits } from "../../_support/waits.ts"

const errors = (count: number): ReadonlyArray<object> => Array.from({ length: count }, () => ({}))

/** The waits of these options when no error has a hint. */
const plain = (options: Backoff.Options) => waits(Backoff.make(options), errors(20))

/** The largest number that a `Random` draws. */
const highest = 1 - Number.EPSILON / 2

describe("delays", () => {
  it.effect("waits start at initialBackoff and grow by the factor, 2 by default, up to the cap [L201]", () =>
    Effect.gen(function* () {
      const initialBackoff = "500 millis"
      assert.deepStrictEqual(yield* plain({ retries: 5, initialBackoff }), [500, 1000, 2000, 4000, 8000])
      assert.deepStrictEqual(yield* plain({ retries: 4, initialBackoff, factor: 1.5 }), [500, 750, 1125, 1687.5])
      assert.deepStrictEqual(yield* plain({ retries: 3, initialBackoff, factor: 1 }), [500, 500, 500])
      assert.deepStrictEqual(
        yield* plain({ retries: 5, initialBackoff, factor: 3, maxBackoff: "4 seconds" }),
        [500, 1500, 4000, 4000, 4000]
      )
      assert.deepStrictEqual(yield* plain({ retries: 2, initialBackoff, maxBackoff: initialBackoff }), [500, 500])
    })
  )

  it.effect("without initialBackoff there is no wait, and no attempt more than the count [L201]", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* plain({ retries: 3 }), [0, 0, 0])
      assert.deepStrictEqual(yield* plain({ maxAttempts: 3 }), [0, 0])
      assert.deepStrictEqual(yield* plain({ retries: 0, initialBackoff: "1 second" }), [])
      assert.deepStrictEqual(yield* plain({ maxAttempts: 1, initialBackoff: "1 second" }), [])
    })
  )

  it.effect("no wait stays none, but for a hint, where the factor has grown beyond every number [L209]", () =>
    Effect.gen(function* () {
      const step = yield* Schedule.toStep(Backoff.make({ retries: 9, factor: 1e200 }))
      for (let attempt = 1; attempt <= 5; attempt++) {
        assert.strictEqual(Duration.toMillis((yield* step(0, {}))[1]), 0)
      }
      assert.strictEqual(Duration.toMillis((yield* step(0, hinting(30_000)))[1]), 30_000)
    })
  )

  it.effect("a million waits are finite, never shrink, and still heed hints [L209]", () =>
    Effect.gen(function* () {
      const million = 1_000_000
      for (const initialBackoff of [0, 100]) {
        const step = yield* Schedule.toStep(Backoff.make({ retries: million + 1, initialBackoff }))
        let before = 0
        for (let attempt = 1; attempt <= million; attempt++) {
          const wait = Duration.toMillis((yield* step(0, {}))[1])
          if (!(Number.isFinite(wait) && wait >= before)) assert.fail(`wait ${attempt} is ${wait} after ${before}`)
          before = wait
        }
        const hinted = Duration.toMillis((yield* step(0, hinting(30_000)))[1])
        assert.strictEqual(hinted, Math.max(before, 30_000))
        // the longest wait that a timer can keep
        assert.strictEqual(before, initialBackoff === 0 ? 0 : 2 ** 31 - 1)
      }
      // however high the cap
      const capped = { retries: 3, initialBackoff: "20 days", maxBackoff: "100 days" } as const
      assert.deepStrictEqual(yield* plain(capped), [20 * 24 * 3_600_000, 2 ** 31 - 1, 2 ** 31 - 1])
    })
  )

  it.effect("one schedule serves many runs, each from its start [L506]", () =>
    Effect.gen(function* () {
      const schedule = Backoff.make({ retries: 3, initialBackoff: "1 second" })
      const runs = yield* Effect.all([waits(schedule, errors(9)), waits(schedule, errors(9))], { concurrency: 2 })
      assert.deepStrictEqual(runs, [
        [1000, 2000, 4000],
        [1000, 2000, 4000]
      ])
    })
  )
})

describe("jitter", () => {
  const options = { retries: 2, initialBackoff: "1 second" } as const

  it.effect("full draws from 0 to the wait, equal from half of it, a number from both sides of it [L202]", () =>
    Effect.gen(function* () {
      const drawn = (jitter: Backoff.Delays["jitter"] & {}, draw: number) =>
        drawing(draw)(plain({ ...options, jitter }))
      assert.deepStrictEqual(yield* drawn("full", 0), [0, 0])
      assert.deepStrictEqual(yield* drawn("full", 0.25), [250, 500])
      assert.deepStrictEqual(yield* drawn("equal", 0), [500, 1000])
      assert.deepStrictEqual(yield* drawn("equal", 0.5), [750, 1500])
      assert.deepStrictEqual(yield* drawn(0.25, 0), [750, 1500])
      assert.deepStrictEqual(yield* drawn(0.25, 0.5), [1000, 2000])
      assert.deepStrictEqual(yield* drawn(0.25, 0.75), [1125, 2250])
      assert.deepStrictEqual(yield* drawn(1, 0), [0, 0])
      assert.deepStrictEqual(yield* drawn(0, 0.9), [1000, 2000])
      assert.deepStrictEqual(yield* drawn("none", 0.9), [1000, 2000])
    })
  )

  it.effect(
    "a thousand draws stay within the bounds and use all of them, the same ones for the same seed [L202 L507]",
    () =>
      Effect.gen(function* () {
        for (const [jitter, low, high] of [
          ["full", 0, 1000],
          ["equal", 500, 1000],
          [0.25, 750, 1250]
        ] as const) {
          const schedule = Backoff.make({ retries: 1000, initialBackoff: "1 second", factor: 1, jitter })
          const drawn = Random.withSeed(waits(schedule, errors(1000)), "seed")
          const found = yield* drawn
          const [shortest, longest] = [Math.min(...found), Math.max(...found)]
          assert.isTrue(low <= shortest && shortest < low + (high - low) / 50, `${jitter}: shortest ${shortest}`)
          assert.isTrue(longest <= high && longest > high - (high - low) / 50, `${jitter}: longest ${longest}`)
          assert.deepStrictEqual(yield* drawn, found)
        }
      })
  )

  it.effect("no jitter lifts a wait above the cap [L203]", () =>
    Effect.gen(function* () {
      const capped = plain({ retries: 3, initialBackoff: "1 second", maxBackoff: "1500 millis", jitter: 0.5 })
      assert.deepStrictEqual(yield* drawing(highest)(capped), [1500, 1500, 1500])
      assert.deepStrictEqual(yield* drawing(0)(capped), [500, 750, 750])
    })
  )
})

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
        const told = Backoff.make({ retries: 3, initialBackoff: 10, maxHint: "2 minutes" })
        assert.deepStrictEqual(yield* waits(told, [120_000, 120_001].map(hinting)), [120_000])
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
      const overloaded = LlmError.ModelOverloadedError.modelOverloaded("m")
      const limited = LlmError.RateLimitError.apiRateLimit("https://example.org", "10 seconds")
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

  it.effect("suggested stops at once at an error that is not retryable or has no sound advice [T33]", () =>
    Effect.gen(function* () {
      const delay = Duration.seconds(1)
      for (const error of [
        LlmError.AuthenticationError.authenticationFailed("m", "no"),
        { isRetryable: true },
        { isRetryable: true, suggestedDelay: 5, maxAttempts: 3 },
        { isRetryable: true, suggestedDelay: delay, maxAttempts: "3" },
        advised(delay, Number.NaN),
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
      const limited = LlmError.RateLimitError.apiRateLimit("https://example.org", "10 seconds")
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

describe("deadline", () => {
  it.effect("no wait passes the deadline, a hinted one neither, and nothing sleeps at its end [L301]", () =>
    Effect.gen(function* () {
      const script: Script = { steps: [], rest: { does: "fail", tag: "A", takes: 100 } }
      const tried = (deadline: number, steps: Script["steps"] = []) =>
        play({ ...script, steps }, Effect.retry(Backoff.make({ retries: 9, initialBackoff: "1 second", deadline })))
      // attempts start at 0, 1100, 3200, 7300
      const tight = yield* tried(3199)
      assert.deepStrictEqual([tight.attempts.length, tight.end], [2, 1200])
      const exact = yield* tried(3200)
      assert.deepStrictEqual([exact.attempts.length, exact.end], [3, 3300])
      const hinted = yield* tried(3200, [{ does: "fail", tag: "A", takes: 100, hint: 3101 }])
      assert.deepStrictEqual([hinted.attempts.length, hinted.end], [1, 100])
      const past = yield* tried(-1)
      assert.deepStrictEqual(past, yield* play(script, bare))
    })
  )
})

describe("options", () => {
  it("exactly one of retries and maxAttempts is given [A203]", () => {
    // @ts-expect-error both of them
    const both = () => Backoff.make({ retries: 1, maxAttempts: 2 })
    // @ts-expect-error neither of them
    const neither = () => Backoff.make({ initialBackoff: 1 })
    assert.throws(both, /retries must not stand beside maxAttempts, got 1/)
    assert.throws(neither, /maxAttempts must be a whole number of at least 1, got undefined/)
    assert.throws(
      () => Backoff.honouringHints({ retries: 1, maxAttempts: 2 } as never),
      /^Backoff: retries must not stand beside maxAttempts, got 1$/
    )
    assert.strictEqual(Backoff.attempts({ retries: 2 }), 3)
    assert.strictEqual(Backoff.attempts({ maxAttempts: 2 }), 2)
  })

  const refusals: ReadonlyArray<readonly [string, object]> = [
    ...[-1, 0.5, Number.NaN, Infinity, -Infinity, 2 ** 53].flatMap((count) => [
      ["retries", { retries: count }] as const,
      ["maxAttempts", { maxAttempts: count }] as const
    ]),
    ["maxAttempts", { maxAttempts: 0 }],
    ...["initialBackoff", "maxBackoff", "maxHint"].flatMap((name) =>
      [
        -1,
        Number.NaN,
        Infinity,
        -Infinity,
        "-1 second",
        "Infinity",
        "soon",
        { seconds: Number.NaN },
        { seconds: -1 },
        [Number.NaN, 0]
      ].map((value) => [name, { retries: 1, [name]: value }] as const)
    ),
    ["maxBackoff", { retries: 1, initialBackoff: "2 seconds", maxBackoff: "1 second" }],
    ...[0, 0.99, -2, Number.NaN, Infinity].map((factor) => ["factor", { retries: 1, factor }] as const),
    ...[-0.01, 1.01, Number.NaN, Infinity, "half"].map((jitter) => ["jitter", { retries: 1, jitter }] as const),
    ["deadline", { retries: 1, deadline: Number.NaN }]
  ]

  it("senseless options are refused at construction, by name [L212 A204]", () => {
    for (const [name, options] of refusals) {
      const wrong = options as Backoff.Options
      const message = new RegExp(`^Backoff: ${name} must`)
      assert.throws(() => Backoff.make(wrong), message)
      assert.throws(() => Recovery.retry(wrong), message)
      assert.throws(() => Backoff.honouringHints({ initialBackoff: 0, ...wrong }), message)
    }
    assert.throws(() => Backoff.honouringHints({ maxBackoff: Number.NaN }), /^Backoff: maxBackoff must/)
    const maxHint = Number.NaN
    assert.throws(() => Backoff.suggested({ maxHint }), RangeError)
    assert.throws(() => Backoff.suggested({ deadline: Number.NaN }), RangeError)
    assert.throws(() => Backoff.withHints(Schedule.forever, { maxHint }), RangeError)
  })

  it("the edges of sense are accepted [L212]", () => {
    for (const options of [
      { retries: 0 },
      { maxAttempts: 1 },
      { retries: 1, factor: 1, jitter: 0 },
      { retries: 1, jitter: 1, maxHint: 0, initialBackoff: 0, maxBackoff: 0 },
      { retries: 1, deadline: 0 },
      { retries: Number.MAX_SAFE_INTEGER - 1, initialBackoff: "1 second", maxBackoff: "1 second" }
    ]) {
      assert.isTrue(Schedule.isSchedule(Backoff.make(options as Backoff.Options)))
    }
  })

  it("every Backoff is a Schedule [A516]", () => {
    for (const schedule of [
      Backoff.make({ retries: 1 }),
      Backoff.honouringHints(),
      Backoff.suggested(),
      Backoff.withHints(Schedule.forever)
    ]) {
      assert.isTrue(Schedule.isSchedule(schedule))
    }
  })
})
