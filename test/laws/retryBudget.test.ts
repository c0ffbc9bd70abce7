/** The law of the shared retry budget, against the plain list of everything that happened. */
import { assert, describe, it } from "@effect/vitest"
import { Backoff, type LlmError, Recovery, RetryBudget } from "@kintsugi/core"
import { Clock, type Duration, Effect, Exit, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { law } from "../_support/laws.ts"

interface Happened {
  readonly what: "call" | "retry" | "refused"
  readonly at: number
}

interface Budget {
  readonly ratio: number
  readonly reserve: number
  readonly window: number
}

const budgets: fc.Arbitrary<Budget> = fc.record({
  ratio: fc.constantFrom(0, 0.125, 0.25, 0.5, 1, 2),
  reserve: fc.nat(4),
  window: fc.constantFrom(1000, 10_000)
})

/** Whole milliseconds after the one before. */
const gap = fc.oneof(fc.constant(0), fc.nat(50), fc.nat(3000))

const since = (log: ReadonlyArray<Happened>, what: Happened["what"], from: number): number =>
  log.filter((one) => one.what === what && one.at > from).length

/** What the budget may and has to do, as the list has it until that instant. */
const holds = (log: ReadonlyArray<Happened>, { ratio, reserve, window }: Budget): void => {
  log.forEach((one, index) => {
    const before = log.slice(0, index)
    const { at } = one
    if (one.what === "retry") {
      const retries = since(before, "retry", at - window) + 1
      assert.isAtMost(retries, reserve + ratio * since(before, "call", at - window))
    }
    // it counts in tenths of the window: it may be one tenth too strict, and no more
    if (one.what === "refused") {
      const retries = since(before, "retry", at - 1.1 * window - 1) + 1
      assert.isAbove(retries, reserve + ratio * since(before, "call", at - 0.9 * window))
    }
  })
}

describe("shared retry budget", () => {
  law(
    "retries in any window are at most the reserve and a ratio of the calls, and no fewer than that [L806]",
    fc.record({
      budget: budgets,
      steps: fc.array(fc.record({ gap, does: fc.constantFrom("call", "call", "retry", "retry") }), { maxLength: 120 })
    }),
    ({ budget: limits, steps }) =>
      Effect.gen(function* () {
        const budget = yield* RetryBudget.make(limits)
        const log: Array<Happened> = []
        for (const { does, gap } of steps) {
          yield* TestClock.adjust(gap)
          const at = yield* Clock.currentTimeMillis
          if (does === "call") {
            yield* budget.deposit
            log.push({ what: "call", at })
          } else log.push({ what: (yield* budget.withdraw) ? "retry" : "refused", at })
        }
        holds(log, limits)
      }).pipe(Effect.provide(TestClock.layer()))
  )

  law(
    "many callers at once: no first attempt is blocked, and a refused retry leaves at once as the error of its attempt [L806]",
    fc.record({
      budget: budgets,
      calls: fc.array(fc.record({ at: fc.nat(20_000), failures: fc.nat(5) }), { minLength: 1, maxLength: 25 }),
      wait: fc.integer({ min: 1, max: 2000 })
    }),
    ({ budget: limits, calls, wait }) =>
      Effect.gen(function* () {
        const budget = yield* RetryBudget.make(limits)
        const log: Array<Happened> = []
        const attempts = calls.map(() => 0)
        const ends = calls.map(() => Number.NaN)
        const lastAttempt = calls.map(() => Number.NaN)
        const schedule = RetryBudget.sharing(
          Backoff.make({ maxAttempts: 4, initialBackoff: wait, factor: 1 }),
          // a withdrawal is what is observed: the wait lies between it and the attempt
          {
            deposit: budget.deposit,
            withdraw: Effect.gen(function* () {
              const isLeft = yield* budget.withdraw
              log.push({ what: isLeft ? "retry" : "refused", at: yield* Clock.currentTimeMillis })
              return isLeft
            })
          }
        )
        const call = (index: number, failures: number) =>
          Effect.gen(function* () {
            const attempt = (attempts[index] = (attempts[index] ?? 0) + 1)
            lastAttempt[index] = yield* Clock.currentTimeMillis
            if (attempt === 1) log.push({ what: "call", at: lastAttempt[index] ?? 0 })
            if (attempt <= failures) return yield* Effect.fail({ _tag: "Busy" as const, attempt })
            return attempt
          }).pipe(
            Recovery.onError({ Busy: Recovery.retry(schedule) }),
            RetryBudget.counting(budget),
            Effect.onExit(() =>
              Effect.map(Clock.currentTimeMillis, (at) => {
                ends[index] = at
              })
            )
          )
        const fibers = yield* Effect.forEach(calls, ({ at, failures }, index) =>
          Effect.forkChild(Effect.delay(Effect.exit(call(index, failures)), at))
        )
        yield* TestClock.adjust("1 hour")
        const exits = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
        for (const [index, exit] of exits.entries()) {
          const { failures = 0 } = calls[index] ?? {}
          // the reply, or the failure of the very last attempt, without a wait behind it
          if (Exit.isSuccess(exit)) assert.strictEqual(exit.value, failures + 1)
          else {
            assert.deepInclude(exit.cause.reasons[0], { error: { _tag: "Busy", attempt: attempts[index] ?? 0 } })
            assert.strictEqual(ends[index], lastAttempt[index])
          }
        }
        assert.strictEqual(since(log, "call", -1), calls.length)
        const retries = attempts.reduce((sum, made) => sum + made - 1, 0)
        assert.strictEqual(since(log, "retry", -1), retries)
        holds(log, limits)
      }).pipe(Effect.provide(TestClock.layer()))
  )

  it.effect("explaining a policy takes nothing from its budget, and shows the worst case [L806]", () =>
    Effect.gen(function* () {
      const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve: 2 })
      const schedule = RetryBudget.sharing(Backoff.make({ retries: 3, initialBackoff: "1 second" }), budget)
      const policy = Recovery.retry<LlmError.LlmError, Duration.Duration, never, never>(schedule)
      assert.strictEqual(Recovery.explain(policy).worst.attempts, 4)
      assert.deepStrictEqual(yield* Effect.all([budget.withdraw, budget.withdraw, budget.withdraw]), [
        true,
        true,
        false
      ])
    })
  )

  it.effect("explaining takes nothing either if other schedules are around the shared one [L806]", () =>
    Effect.gen(function* () {
      const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve: 2 })
      const other = RetryBudget.makeUnsafe({ ratio: 0, reserve: 1 })
      const schedule = RetryBudget.sharing(Backoff.make({ retries: 3, initialBackoff: "1 second" }), budget)
      const around: ReadonlyArray<readonly [string, Schedule.Schedule<unknown, unknown>, number]> = [
        ["map", Schedule.map(schedule, Effect.succeed), 4],
        ["upTo", Schedule.upTo(schedule, { times: 2 }), 3],
        ["max", Schedule.max([schedule, Schedule.spaced("1 second")]), 4],
        ["two budgets", RetryBudget.sharing(Schedule.map(schedule, Effect.succeed), other), 4]
      ]
      for (const [name, policy, attempts] of around) {
        const explained = Recovery.explain({ Busy: Recovery.retry(policy) })
        assert.strictEqual(explained.worst.attempts, attempts, name)
        assert.isUndefined(explained.rows[0]?.rungs[0]?.unknown, name)
      }
      const left = yield* Effect.all([budget.withdraw, budget.withdraw, budget.withdraw, other.withdraw])
      assert.deepStrictEqual(left, [true, true, false, true])
    })
  )

  it.effect("a schedule that ends by itself withdraws nothing [L806]", () =>
    Effect.gen(function* () {
      const budget = yield* RetryBudget.make({ ratio: 0, reserve: 2 })
      const once = RetryBudget.sharing(budget)(Backoff.make({ retries: 1 }))
      yield* Effect.exit(Effect.retry(Effect.fail("no"), once))
      assert.deepStrictEqual(yield* Effect.all([budget.withdraw, budget.withdraw]), [true, false])
    })
  )

  for (const bad of [{ ratio: -1 }, { ratio: Number.NaN }, { reserve: -1 }, { reserve: Infinity }, { window: 0 }]) {
    it(`refuses ${Object.entries(bad).join()} [L806]`, () => {
      assert.throws(() => RetryBudget.make(bad), RangeError)
      assert.throws(() => RetryBudget.makeUnsafe(bad), RangeError)
    })
  }
})
