/**
 * Laws of schedules that are put together: of pure decisions first, then of runs. The operations are Effect's, the schedules
 * are ours; that a wrong operation would be noticed is part of this suite.
 */
import { assert, it } from "@effect/vitest"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Cause, Duration, Effect, Schedule } from "effect"
import {
  algebraic,
  cap,
  type Case,
  decided,
  effects,
  type Operations,
  ours,
  ran,
  type Timing
} from "./_support/algebra.ts"
import { seed } from "../_support/cases.ts"
import { retriesOf, waitOf } from "./_support/policies.ts"
import { idsOfTitle } from "../../scripts/ruleIds.ts"
import { law, type Play } from "../_support/laws.ts"
import * as Waits from "../_support/waits.ts"

/** What a law says of any operations. */
type Holds = (operations: Operations, one: Case, play: Play) => Effect.Effect<unknown, unknown>

/** By their ids. */
const laws = new Map<string, Holds>()

const lawOfOperations = (title: string, holds: Holds): void => {
  for (const id of idsOfTitle(title)) laws.set(id, holds)
  law(title, algebraic, (one, play) => holds(effects, one, play))
}

/** Schedules that decide alike on every failure, and whose runs leave one trace: of each case, that of one of the others. */
const same = (one: Case, play: Play, first: Timing, ...others: ReadonlyArray<Timing>) =>
  Effect.gen(function* () {
    const waits = yield* decided(one, first)
    for (const other of others) assert.deepStrictEqual(yield* decided(one, other), waits)
    const other = others[one.x % others.length] ?? first
    assert.deepStrictEqual(yield* ran(play, one, other), yield* ran(play, one, first))
  })

/** Without hints, so that nothing but counts ends a policy. */
const unhinted = (one: Case): Case => ({
  ...one,
  script: {
    steps: one.script.steps.map(({ takes }) => ({ takes, does: "fail", tag: "A" })),
    rest: { takes: one.script.rest.takes, does: "fail", tag: "A" }
  }
})

lawOfOperations(
  "both is associative, commutative and idempotent; what never ends is its identity, stop absorbs [L501]",
  ({ both, forever, stop }, one, play) =>
    Effect.gen(function* () {
      const [a, b, c] = [ours(one.a), ours(one.b), ours(one.c)]
      yield* same(one, play, both(both(a, b), c), both(a, both(b, c)))
      yield* same(one, play, both(a, b), both(b, a))
      yield* same(one, play, a, both(a, a), both(a, forever), both(forever, a))
      yield* same(one, play, stop, both(a, stop), both(stop, a))
    })
)

lawOfOperations(
  "either is associative, commutative and idempotent; stop is its identity; it distributes with both [L502]",
  ({ both, either, stop }, one, play) =>
    Effect.gen(function* () {
      const [a, b, c] = [ours(one.a), ours(one.b), ours(one.c)]
      yield* same(one, play, either(either(a, b), c), either(a, either(b, c)))
      yield* same(one, play, either(a, b), either(b, a))
      yield* same(one, play, a, either(a, a), either(a, stop), either(stop, a))
      yield* same(one, play, a, either(a, both(a, b)), both(a, either(a, b)))
      yield* same(one, play, both(a, either(b, c)), either(both(a, b), both(a, c)))
      yield* same(one, play, either(a, both(b, c)), both(either(a, b), either(a, c)))
    })
)

lawOfOperations(
  "one after another is associative, stop is its identity, and the retries add up [L503]",
  ({ concat, stop }, one, play) =>
    Effect.gen(function* () {
      const [a, b, c] = [ours(one.a), ours(one.b), ours(one.c)]
      yield* same(one, play, concat(concat(a, b), c), concat(a, concat(b, c)))
      yield* same(one, play, a, concat(a, stop), concat(stop, a))
      const plain = unhinted(one)
      const waits = yield* Effect.forEach([a, b], (each) => decided(plain, each))
      assert.deepStrictEqual(yield* decided(plain, concat(a, b)), waits.flat())
      const { attempts } = yield* ran(play, plain, concat(a, b))
      assert.strictEqual(attempts.length, 1 + retriesOf(one.a) + retriesOf(one.b))
    })
)

lawOfOperations(
  "where all fail, both makes the fewer attempts with the longer waits, either the more with the shorter [L504]",
  ({ both, either }, one, play) =>
    Effect.gen(function* () {
      const plain = unhinted(one)
      const [a, b] = [ours(one.a), ours(one.b)]
      const retries = [retriesOf(one.a), retriesOf(one.b)] as const
      const hintsOf = (options: Case["a"], k: number) => {
        const wait = k <= retriesOf(options) ? waitOf(options, k, one.draw) : "gave up"
        return wait === "gave up" ? undefined : wait
      }
      for (const [schedule, count, choose] of [
        [both(a, b), Math.min(...retries), Math.max],
        [either(a, b), Math.max(...retries), Math.min]
      ] as const) {
        const waits = Array.from({ length: count }, (_, index) =>
          choose(...[hintsOf(one.a, index + 1), hintsOf(one.b, index + 1)].filter((wait) => wait !== undefined))
        )
        assert.deepStrictEqual(yield* decided(plain, schedule), waits)
        assert.strictEqual((yield* ran(play, plain, schedule)).attempts.length, 1 + count)
      }
    })
)

lawOfOperations(
  "changing waits by nothing changes nothing, two changes compose, and a cap is the lower of two caps [L505]",
  (operations, one, play) =>
    Effect.gen(function* () {
      const { map } = operations
      const a = ours(one.a)
      const double = (millis: number) => 2 * millis
      const longer = (millis: number) => millis + one.x
      yield* same(
        one,
        play,
        a,
        map(a, (millis) => millis)
      )
      yield* same(
        one,
        play,
        map(map(a, double), longer),
        map(a, (millis) => longer(double(millis)))
      )
      const capped = cap(operations, a, one.x)
      yield* same(one, play, capped, cap(operations, capped, one.x))
      const lower = cap(operations, a, Math.min(one.x, one.y))
      yield* same(one, play, lower, cap(operations, capped, one.y), cap(operations, cap(operations, a, one.y), one.x))
      // our own cap is one of these, where neither jitter nor a hint is on top of it
      const { initialBackoff = 0, jitter: _, maxBackoff = Infinity, ...rest } = one.a
      const unlimited = ours({ ...rest, initialBackoff })
      const own = ours({ ...rest, initialBackoff, maxBackoff: Math.max(initialBackoff, Math.min(one.x, maxBackoff)) })
      const most = Math.max(initialBackoff, Math.min(one.x, maxBackoff))
      yield* same(unhinted(one), play, own, cap(operations, unlimited, most))
    })
)

// --- operations that are a little wrong

/** Puts two schedules together by what each of them wants: a wait in milliseconds, or nothing more. */
const combined =
  (choose: (one: number | undefined, other: number | undefined) => number | undefined) =>
  (one: Timing, other: Timing): Timing =>
    Schedule.fromStep(
      Effect.map(
        Effect.all([Schedule.toStep(one), Schedule.toStep(other)]),
        ([first, second]) =>
          (now: number, error: unknown) =>
            Effect.flatMap(Effect.all([Waits.next(first, now, error), Waits.next(second, now, error)]), (wanted) =>
              waiting(choose(...wanted))
            )
      )
    )

const waiting = (millis: number | undefined) => {
  if (millis === undefined) return Cause.done(Duration.zero)
  const wait = Duration.millis(millis)
  return Effect.succeed<[Duration.Duration, Duration.Duration]>([wait, wait])
}

/** Changes not each wait but the sum of all so far. */
const changingTotal = (self: Timing, change: (millis: number) => number): Timing =>
  Schedule.fromStep(
    Effect.map(Schedule.toStep(self), (step) => {
      let total = 0
      let waited = 0
      return (now: number, error: unknown) =>
        Effect.flatMap(Waits.next(step, now, error), (wait) => {
          if (wait === undefined) return waiting(undefined)
          total += wait
          const left = Math.max(0, change(total) - waited)
          waited += left
          return waiting(left)
        })
    })
  )

const { both, concat, either } = effects

const wrong: ReadonlyArray<readonly [law: string, what: string, operations: Partial<Operations>]> = [
  ["L501", "both ends only when both end", { both: combined((x, y) => Math.max(x ?? 0, y ?? 0) || (x ?? y)) }],
  ["L501", "both waits for the shorter", { both: combined((x, y) => (x === undefined ? x : y && Math.min(x, y))) }],
  [
    "L502",
    "either waits for one after the other",
    { either: combined((x, y) => (x === undefined ? y : x + (y ?? 0))) }
  ],
  ["L502", "either ends when one ends", { either: combined((x, y) => (x === undefined ? x : y && Math.min(x, y))) }],
  ["L503", "the attempts add up", { concat: (a, b) => concat(concat(a, Schedule.recurs(1)), b) }],
  ["L503", "the other is run first", { concat: (a, b) => concat(b, a) }],
  ["L504", "both and either are swapped", { both: either, either: both }],
  ["L505", "the sum of the waits is changed", { map: changingTotal }],
  ["L505", "the change is made twice", { map: (self, change) => effects.map(effects.map(self, change), change) }]
]

for (const [id, what, operations] of wrong) {
  it.effect(`a law is broken where ${what} [${id}]`, () =>
    Effect.gen(function* () {
      const holds = laws.get(id)
      assert(holds !== undefined)
      const checking = FastCheck.check(algebraic, (one, { play }) => holds({ ...effects, ...operations }, one, play), {
        seed
      })
      const error = yield* Effect.flip(checking)
      assert.instanceOf(error, FastCheck.CounterexampleError)
    })
  )
}
