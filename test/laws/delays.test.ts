import { assert } from "@effect/vitest"
import { Backoff, Recovery } from "@kintsugi/core"
import { type Duration, Effect, Random, Schedule, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import fc from "fast-check"
import {
  count,
  delays,
  draw,
  jitter,
  drawing,
  guarded,
  guardedBy,
  jittered,
  nanos,
  type Options,
  options,
  retriesOf,
  table,
  verdictsOf,
  waitOf
} from "./_support/policies.ts"
import { allFailing, law, type Script, script, startsAfter, type Step, stepOf, waitsOf } from "../_support/laws.ts"
import { hinting, waits } from "../_support/waits.ts"

const always = (options: Options) => guarded({ orElse: { kind: "retry", options } })

const noHint = Arbitrary.Constant(undefined)
/** The longest wait that a timer can keep. */
const longest = 2 ** 31 - 1

const hintless = allFailing(undefined, noHint)

const hintOf = (script: Script, attempt: number): number | undefined => {
  const step = stepOf(script, attempt)
  return step.does === "fail" ? step.hint : undefined
}

law(
  "without jitter and hint wait k is the first wait times factor to the k - 1, at most the cap [L201]",
  fc.record({ options, script: hintless }),
  ({ options, script }, play) =>
    Effect.map(play(script, always(options)), ({ attempts }) => {
      const { factor = 2, initialBackoff = 0, maxBackoff = Infinity } = options
      const expected = Array.from({ length: retriesOf(options) }, (_, index) =>
        nanos(Math.min(initialBackoff * factor ** index, maxBackoff))
      )
      assert.deepStrictEqual(
        attempts.map(({ start }) => start),
        startsAfter(script, expected)
      )
    })
)

law(
  "jitter keeps each wait within the bounds of its kind [L202]",
  fc.record({ delays, jitter, seed: fc.string(), tries: fc.integer({ min: 1, max: 30 }) }),
  ({ delays, jitter, seed, tries }) =>
    Effect.gen(function* () {
      const { factor = 2, initialBackoff = 0, maxBackoff = Infinity } = delays
      const errors = Array.from({ length: tries }, () => undefined)
      const found = yield* Random.withSeed(waits(Backoff.make({ ...delays, jitter, retries: tries }), errors), seed)
      assert.strictEqual(found.length, tries)
      found.forEach((wait, index) => {
        const center = Math.min(initialBackoff * factor ** index, maxBackoff, longest)
        const [low, high] =
          typeof jitter === "number"
            ? [center * (1 - jitter), center * (1 - jitter + 2 * jitter)]
            : [jitter === "full" ? 0 : center / 2, center]
        assert.isTrue(Number.isFinite(wait) && wait >= 0, `wait ${wait}`)
        assert.isTrue(wait >= nanos(low), `wait ${wait} below ${low}`)
        assert.isTrue(wait <= nanos(high), `wait ${wait} above ${high}`)
      })
    })
)

law(
  "jitter reaches both ends of its bounds and follows the draw exactly [L202]",
  fc.record({ options: jittered, draw: fc.oneof(fc.constantFrom(0, 1 - Number.EPSILON), draw), script: hintless }),
  ({ draw, options, script }, play) =>
    Effect.map(play(script, drawing(draw, always(options))), ({ attempts }) =>
      assert.deepStrictEqual(
        attempts.map(({ start }) => start),
        startsAfter(script, expectedWaits(options, script, draw))
      )
    )
)

law(
  "no wait is above the cap, jitter or not, unless a hint is [L203]",
  fc.record({ options: jittered, cap: fc.integer({ min: 0, max: 3_000 }), script: allFailing(), draw }),
  ({ cap, draw, options, script }, play) => {
    const capped: Options = { ...options, initialBackoff: Math.min(options.initialBackoff ?? 0, cap), maxBackoff: cap }
    return Effect.map(play(script, drawing(draw, always(capped))), ({ attempts }) => {
      const limits = attempts.slice(1).map((_, index) => Math.max(cap, 1, hintOf(script, index + 1) ?? 0))
      attempts.slice(1).forEach(({ start }, index) => {
        assert.isAtMost(start, attempts[index]!.start + stepOf(script, index + 1).takes + limits[index]!)
      })
    })
  }
)

law(
  "no wait is below its hint, with any jitter, cap and growth [L204]",
  fc.record({ options: fc.oneof(options, jittered), script: allFailing(), draw }),
  ({ draw, options, script }, play) =>
    Effect.map(play(script, drawing(draw, always(options))), ({ attempts }) => {
      attempts.slice(1).forEach(({ start }, index) => {
        const ended = attempts[index]!.start + stepOf(script, index + 1).takes
        assert.isAtLeast(start, ended + (hintOf(script, index + 1) ?? 0))
      })
    })
)

law(
  "no wait of any schedule is below its hint [L204]",
  fc.record({
    base: fc.integer({ min: 0, max: 5_000 }),
    hints: fc.array(fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 60_000 })), { maxLength: 12 }),
    seed: fc.string()
  }),
  ({ base, hints, seed }) =>
    Effect.gen(function* () {
      const schedule = Schedule.jittered(Schedule.exponential(base))
      const errors = hints.map(hinting)
      const plain = yield* Random.withSeed(waits(schedule, errors), seed)
      const hinted = yield* Random.withSeed(waits(Backoff.withHints(schedule), errors), seed)
      assert.deepStrictEqual(
        hinted,
        hints.map((hint, index) => Math.max(plain[index] ?? Number.NaN, hint === undefined ? 0 : Math.max(hint, 1)))
      )
    })
)

law(
  "a hint above maxHint ends the schedule without a sleep, and no shorter wait replaces it [L205]",
  fc.record({
    options: fc.oneof(options, jittered),
    maxHint: fc.integer({ min: 1, max: 120_000 }),
    beyond: fc.integer({ min: 1, max: 10 ** 9 }),
    script: allFailing(undefined, Arbitrary.schema(Schema.UndefinedOr(Schema.Literal(1)))),
    at: fc.integer({ min: 1, max: 6 })
  }),
  ({ at, beyond, maxHint, options, script }, play) => {
    fc.pre(at <= retriesOf(options))
    const step = stepOf(script, at)
    const hinted: Script = {
      steps: [
        ...Array.from({ length: at - 1 }, (_, index) => stepOf(script, index + 1)),
        step.does === "fail" ? { ...step, hint: maxHint + beyond } : step
      ],
      rest: script.rest
    }
    return Effect.gen(function* () {
      for (const guard of [
        always({ ...options, maxHint }),
        guardedBy({ orElse: Recovery.retry(Backoff.withHints(Schedule.recurs(6), { maxHint })) })
      ]) {
        const { attempts, end } = yield* play(hinted, guard)
        assert.strictEqual(attempts.length, at)
        assert.strictEqual(end, attempts[at - 1]!.start + step.takes)
      }
    })
  }
)

law(
  "a hint leaves all other waits as they are [L206]",
  fc.record({
    // whole waits, so that differences of instants are exact
    options: options.map((options): Options => ({ ...options, factor: 2, maxHint: 10 ** 9 })),
    script: allFailing()
  }),
  ({ options, script }, play) =>
    Effect.gen(function* () {
      const plain = (step: Step): Step =>
        step.does === "fail" ? { does: "fail", tag: step.tag, takes: step.takes } : step
      const unhinted = { steps: script.steps.map(plain), rest: plain(script.rest) }
      const without = waitsOf(unhinted, yield* play(unhinted, always(options)))
      const found = waitsOf(script, yield* play(script, always(options)))
      assert.strictEqual(found.length, without.length)
      found.forEach((wait, index) => {
        const hint = hintOf(script, index + 1)
        const floor = hint === undefined ? 0 : Math.max(1, hint)
        assert.strictEqual(wait, Math.max(without[index]!, floor))
      })
    })
)

law(
  "a hint of zero is a wait of at least 1 ms [L208]",
  fc.record({ options: fc.oneof(options, jittered), script: allFailing(undefined, Arbitrary.Constant(0)), draw }),
  ({ draw, options, script }, play) => {
    fc.pre((options.maxHint ?? 1) >= 1)
    return Effect.map(play(script, drawing(draw, always(options))), ({ attempts }) => {
      assert.strictEqual(attempts.length, 1 + retriesOf(options))
      attempts.slice(1).forEach(({ start }, index) => {
        assert.isAtLeast(start, attempts[index]!.start + stepOf(script, index + 1).takes + 1)
      })
    })
  }
)

law(
  "waits are finite and never shrink, up to the cap, however many there are [L209 L210]",
  fc.record({
    delays,
    // one below 1 is refused
    factor: fc.oneof(fc.constantFrom(1, 2, 10), fc.double({ min: 0, max: 4, noNaN: true })),
    tries: fc.integer({ min: 1, max: 3_000 })
  }),
  ({ delays, factor, tries }) =>
    Effect.gen(function* () {
      const options: Options = { ...delays, factor, retries: tries }
      if (factor < 1) return assert.throws(() => Backoff.make(options), RangeError)
      const found = yield* waits(
        Backoff.make(options),
        Array.from({ length: tries }, () => undefined)
      )
      assert.strictEqual(found.length, tries)
      const isSteady = found.every(
        (wait, index) =>
          Number.isFinite(wait) && wait <= (delays.maxBackoff ?? longest) && wait >= (found[index - 1] ?? 0)
      )
      assert.isTrue(isSteady)
    })
)

law(
  "it ends when its last attempt ends, without a sleep behind it [L211]",
  fc.record({ options: fc.oneof(options, jittered), script: allFailing(), draw }),
  ({ draw, options, script }, play) =>
    Effect.map(play(script, drawing(draw, always(options))), ({ attempts, end }) => {
      const last = attempts.length
      assert.strictEqual(end, attempts[last - 1]!.start + stepOf(script, last).takes)
    })
)

const badNumbers = [Number.NaN, Infinity, -Infinity]
const badCount = fc.oneof(
  fc.constantFrom(...badNumbers),
  fc.integer({ max: -1 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true })
)
const badDuration = fc.oneof(
  fc.constantFrom<Duration.Input>("Infinity", "-Infinity", "-1 second", { seconds: Number.NaN }, [Number.NaN, 0]),
  fc.constantFrom(...badNumbers),
  fc.double({ max: -0.001, noNaN: true })
)
const flaw: fc.Arbitrary<object> = fc.oneof(
  fc.record({ retries: badCount }),
  fc.record({ maxAttempts: fc.oneof(fc.constant(0), badCount) }),
  fc.constant({ retries: undefined, maxAttempts: undefined }),
  fc.constant({ retries: 1, maxAttempts: 2 }),
  fc.record({ initialBackoff: badDuration }),
  fc.record({ maxBackoff: badDuration }),
  fc.record({ maxHint: badDuration }),
  fc.record({ initialBackoff: fc.integer({ min: 1, max: 10_000 }), maxBackoff: fc.constant(0) }),
  fc.record({
    factor: fc.oneof(fc.constantFrom(...badNumbers), fc.double({ max: 1, maxExcluded: true, noNaN: true }))
  }),
  fc.record({
    jitter: fc.oneof(
      fc.constantFrom(...badNumbers),
      fc.double({ min: 1, minExcluded: true, noNaN: true }),
      fc.double({ max: -Number.MIN_VALUE, noNaN: true })
    )
  }),
  fc.constant({ deadline: Number.NaN })
)

law(
  "senseless options are refused when a policy is made [L212]",
  fc.record({ count, delays, flaw }),
  ({ count, delays, flaw }) =>
    Effect.sync(() => {
      const isCount = "retries" in flaw || "maxAttempts" in flaw
      const flawed = { ...delays, ...(isCount ? {} : count), ...flaw } as Options
      assert.throws(() => Backoff.make(flawed), RangeError)
      assert.throws(() => Recovery.retry(flawed), RangeError)
      assert.doesNotThrow(() => Backoff.make({ ...delays, ...count }))
    })
)

law(
  "a policy may serve many runs, one after another and at once [L506]",
  fc.record({ table, script, other: script, draw }),
  ({ draw, other, script, table }, play) =>
    Effect.gen(function* () {
      const guard = drawing(draw, guardedBy(verdictsOf(table)))
      const first = yield* play(script, guard)
      const [second] = yield* Effect.all([play(script, guard), play(other, guard)], { concurrency: "unbounded" })
      assert.deepStrictEqual(second, first)
    })
)

law(
  "the same seed leaves the same trace [L507]",
  fc.record({ options: jittered, script: allFailing(), seed: fc.string() }),
  ({ options, script, seed }, play) =>
    Effect.gen(function* () {
      const guard = always(options)
      const first = yield* play(script, (scripted) => Random.withSeed(guard(scripted), seed))
      assert.deepStrictEqual(yield* play(script, (scripted) => Random.withSeed(guard(scripted), seed)), first)
    })
)

const expectedWaits = (options: Options, script: Script, draw: number): ReadonlyArray<number> =>
  Array.from({ length: retriesOf(options) }, (_, index) => {
    const wait = waitOf(options, index + 1, draw, hintOf(script, index + 1))
    return wait === "gave up" ? Number.NaN : wait
  })
