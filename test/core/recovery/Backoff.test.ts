import { assert, describe, it } from "@effect/vitest"
import { Backoff, Recovery } from "@kintsugi/core"
import { Duration, Effect, Random, Schedule } from "effect"
import { bare, play, type Script } from "../../_support/laws.ts"
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
      const drawn = (jitter: Backoff.Options["jitter"] & {}, draw: number) =>
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

describe("deadline", () => {
  it.effect("no wait passes the deadline, not even a hinted one, and no fiber sleeps at its end [L301]", () =>
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
    assert.throws(neither, /retries \(extra runs\) or maxAttempts \(all runs\) must be given, got initialBackoff/)
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
