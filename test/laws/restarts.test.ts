import { assert } from "@effect/vitest"
import { Backoff, Recovery } from "@kintsugi/core"
import { Clock, Duration, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { jittered, options, type Policy, type Table, verdictsOf } from "./_support/policies.ts"
import { allFailing, type Failure, law, type Script, stepOf } from "../_support/laws.ts"

/** Retries and ladders of them: what waits. */
const waiting: fc.Arbitrary<Policy> = fc.oneof(
  options.map((options): Policy => ({ kind: "retry", options })),
  fc
    .array(
      fc
        .oneof(options, jittered)
        .map((options): Policy => ({ kind: "retry", options: { ...options, jitter: "none" } })),
      {
        minLength: 1,
        maxLength: 3
      }
    )
    .map((rungs): Policy => ({ kind: "ladder", rungs }))
)

const tables: fc.Arbitrary<Table> = fc
  .uniqueArray(fc.tuple(fc.constantFrom("A" as const, "B" as const, "orElse" as const), waiting), {
    selector: ([row]) => row,
    minLength: 1
  })
  .map((rows): Table => Object.fromEntries(rows))

const overJson = (position: Recovery.Position): Recovery.Position => {
  const codec = Schema.toCodecJson(Recovery.Position)
  return Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(position))))
}

/** Runs a script; the `kill`-th wait is cut off in its middle, and the policy goes on from what was kept, after a while. */
const attemptsOf = (table: Table, script: Script, kill: number | undefined) =>
  Effect.gen(function* () {
    const starts: Array<number> = []
    const attempt = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.suspend(() => {
        const { hint, tag, takes } = failing(stepOf(script, starts.push(now)))
        const error: Failure = {
          _tag: tag,
          attempt: starts.length,
          ...(hint === undefined ? {} : { retryAfter: Duration.millis(hint) })
        }
        return Effect.delay(Effect.fail(error), takes)
      })
    )
    let waits = 0
    let stored: Recovery.Position | undefined
    const guarded = (from: Recovery.Position | undefined) =>
      Recovery.onErrorFrom<Failure, ReturnType<typeof verdictsOf>>(verdictsOf(table), {
        onWait: (position) =>
          Effect.suspend(() => {
            if (++waits !== kill) return Effect.void
            stored = overJson(position)
            // the process dies here
            return Effect.never
          }),
        ...(from === undefined ? {} : { from })
      })(attempt)
    const first = yield* Effect.forkChild(Effect.exit(guarded(undefined)))
    yield* TestClock.adjust("1 day")
    if (stored !== undefined) {
      yield* Fiber.interrupt(first)
      const resumed = yield* Effect.forkChild(Effect.exit(guarded(stored)))
      yield* TestClock.adjust("100 days")
      return { starts, exit: yield* Fiber.join(resumed) }
    }
    yield* TestClock.adjust("100 days")
    return { starts, exit: yield* Fiber.join(first) }
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

const failing = (step: ReturnType<typeof stepOf>) =>
  step.does === "fail"
    ? { tag: step.tag, takes: step.takes, hint: step.hint }
    : assert.fail("every attempt of the script fails")

law(
  "a policy that is cut off in a wait goes on from its position: as many attempts, the same failure, the same later waits [L613 P1104 P1323]",
  fc.record({ table: tables, script: allFailing(), kill: fc.integer({ min: 1, max: 6 }) }),
  ({ kill, script, table }) =>
    Effect.gen(function* () {
      const whole = yield* attemptsOf(table, script, undefined)
      const cut = yield* attemptsOf(table, script, kill)
      assert.strictEqual(cut.starts.length, whole.starts.length)
      assert.deepStrictEqual(cut.exit, whole.exit)
      const waits = (starts: ReadonlyArray<number>) =>
        starts.slice(1).map((start, index) => start - (starts[index] ?? 0))
      // the wait that was cut off is over when it is gone on
      const same = (starts: ReadonlyArray<number>) => waits(starts).filter((_, index) => index !== kill - 1)
      assert.deepStrictEqual(same(cut.starts), same(whole.starts))
    })
)

law("after a restart only the rest of the wait is waited [L613 P1104]", fc.integer({ min: 0, max: 20_000 }), (late) =>
  Effect.gen(function* () {
    const starts: Array<number> = []
    const attempt = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      starts.push(now)
      return Effect.fail({
        _tag: "A",
        isRetryable: true,
        suggestedDelay: Duration.seconds(10),
        maxAttempts: 3
      } as const)
    })
    let stored: Recovery.Position | undefined
    const table = { A: Recovery.retry(Backoff.suggested()) }
    const first = yield* Effect.forkChild(
      Effect.exit(
        attempt.pipe(Recovery.onErrorFrom(table, { onWait: (position) => Effect.sync(() => void (stored = position)) }))
      )
    )
    yield* TestClock.adjust(1)
    yield* Fiber.interrupt(first)
    yield* TestClock.adjust(late)
    assert(stored !== undefined)
    const from = overJson(stored)
    const resumed = yield* Effect.forkChild(
      Effect.exit(attempt.pipe(Recovery.onErrorFrom(table, { onWait: () => Effect.void, from })))
    )
    yield* TestClock.adjust("1 day")
    yield* Fiber.join(resumed)
    const next = Math.max(10_000, late + 1)
    assert.deepStrictEqual(starts, [0, next, next + 10_000])
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
)
