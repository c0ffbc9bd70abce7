import { assert, describe, it } from "@effect/vitest"
import { Recovery } from "@kintsugi/core"
import { Cause, Duration, Effect, Exit, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import {
  Broken,
  type Busy,
  busy,
  fails,
  type Failure,
  fine,
  gone,
  overADay,
  scripted
} from "./_support/scriptedEffect.ts"

describe("when", () => {
  it.effect("the function gets every failure, its attempt, the errors before and the time since the start [A511]", () =>
    Effect.gen(function* () {
      const errors = [busy(1), gone(2), busy(3), busy(4)]
      const seen: Array<Recovery.FailureContext & { readonly error: Failure }> = []
      const Busy = Recovery.when((error: Busy, context) => {
        seen.push({ ...context, error })
        return context.attempt < 4
          ? Recovery.retry<Busy>({ retries: 9, initialBackoff: "1 second" })
          : Recovery.respondWith<Busy, string>("enough")
      })
      yield* TestClock.setTime(5000)
      const { effect } = scripted(...fails(...errors).map(Effect.delay("100 millis")))
      const table = { Busy, Gone: Recovery.retry({ retries: 1, initialBackoff: "10 seconds" }) }
      const { exit } = yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(exit, Exit.succeed("enough"))
      const outside = { failingBatches: 0, failuresInARow: 0 }
      assert.deepStrictEqual(seen, [
        { ...outside, error: errors[0], attempt: 1, previous: [], elapsed: Duration.millis(100) },
        { ...outside, error: errors[2], attempt: 3, previous: errors.slice(0, 2), elapsed: Duration.millis(11_300) },
        { ...outside, error: errors[3], attempt: 4, previous: errors.slice(0, 3), elapsed: Duration.millis(13_400) }
      ] as Array<unknown>)
    })
  )

  it.effect("a verdict made anew at each failure does not count anew [A511]", () =>
    Effect.gen(function* () {
      const { effect, starts } = scripted(...fails(busy(1), busy(2), busy(3)))
      const Busy = Recovery.when(() => Recovery.retry({ retries: 2, initialBackoff: "1 second" }))
      yield* overADay(effect.pipe(Recovery.onError({ Busy })))
      assert.deepStrictEqual(starts, [0, 1000, 3000])
    })
  )

  it.effect(
    "an endless repetition keeps the last hundred failures, and a handler reads those before its own [A511]",
    () =>
      Effect.gen(function* () {
        const previous: Array<ReadonlyArray<unknown>> = []
        const errors = Array.from({ length: 250 }, (_, index) => busy(index + 1))
        const { effect } = scripted(...fails(...errors))
        const Busy = Recovery.when((_error: Busy, context) => {
          previous.push(context.previous)
          return Recovery.retry(Schedule.forever)
        })
        yield* overADay(effect.pipe(Recovery.onError({ Busy })))
        assert.deepStrictEqual(previous[99], errors.slice(0, 99))
        assert.deepStrictEqual(previous[249], errors.slice(150, 249))
      })
  )

  it.effect("what goes on after a restart tells a choice of no failures but its own [P1104 A511]", () =>
    Effect.gen(function* () {
      let stored: Recovery.Position | undefined
      const previous: Array<ReadonlyArray<unknown>> = []
      const Busy = Recovery.when((_error: Busy, context) => {
        previous.push(context.previous)
        return Recovery.retry<Busy>({ retries: 2, initialBackoff: "1 second" })
      })
      const guarded = (from: Recovery.Position | undefined) => {
        const { effect } = scripted(...fails(busy(1), busy(2), busy(3)))
        const onWait = (position: Recovery.Position) => Effect.sync(() => void (stored = position))
        return effect.pipe(Recovery.onErrorFrom({ Busy }, from === undefined ? { onWait } : { onWait, from }))
      }
      const first = yield* Effect.forkChild(guarded(undefined))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(first)
      assert(stored !== undefined)
      yield* overADay(guarded(stored))
      assert.deepStrictEqual(previous, [[], [], [busy(1)]] as Array<unknown>)
    })
  )

  it.effect("a ladder that lost the rung on which it stood is used up [P1104 P1101]", () =>
    Effect.gen(function* () {
      let stored: Recovery.Position | undefined
      const onWait = (position: Recovery.Position) => Effect.sync(() => void (stored = position))
      const retry = (seconds: number) => Recovery.retry({ retries: 1, initialBackoff: `${seconds} seconds` })
      const { effect } = scripted(...fails(busy(1), busy(2), busy(3)))
      const long = { orElse: Recovery.ladder(retry(1), retry(2)) }
      const first = yield* Effect.forkChild(effect.pipe(Recovery.onErrorFrom(long, { onWait })))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.interrupt(first)
      assert.deepInclude(stored, { attempts: 2 })
      assert(stored !== undefined)
      const later = scripted(...fails(busy(3), busy(4)))
      const short = { orElse: Recovery.ladder(retry(1)) }
      const { exit } = yield* overADay(later.effect.pipe(Recovery.onErrorFrom(short, { onWait, from: stored })))
      assert.deepStrictEqual(exit, Exit.fail(busy(3)))
    })
  )

  it.effect("a schedule that took the place of another goes on as if it had seen the failures of before [P1104]", () =>
    Effect.gen(function* () {
      const positions: Array<Recovery.Position> = []
      const onWait = (position: Recovery.Position) => Effect.sync(() => void positions.push(position))
      const within = (seconds: number) => Schedule.max([Schedule.spaced(`${seconds} seconds`), Schedule.recurs(3)])
      const chosen = (seconds: number) => {
        const verdict = Recovery.retry(within(seconds))
        return () => verdict
      }
      for (const row of [within, chosen]) {
        const before = scripted(...fails(busy(1), busy(2), busy(3)))
        const first = yield* Effect.forkChild(before.effect.pipe(Recovery.onErrorFrom({ Busy: row(1) }, { onWait })))
        yield* TestClock.adjust(1500)
        yield* Fiber.interrupt(first)
        const from = positions.splice(0).at(-1)
        assert(from !== undefined)
        assert.deepInclude(from, { attempts: 2 })
        // two of the three recurrences are over; the wait that is left is the new one's
        const later = scripted(...fails(busy(3), busy(4), busy(5)))
        const going = later.effect.pipe(Recovery.onErrorFrom({ Busy: row(60) }, { onWait, from }))
        const { exit } = yield* overADay(going)
        assert.deepStrictEqual(exit, Exit.fail(busy(4)))
        const [wait] = positions.splice(0)
        assert(wait !== undefined)
        assert.isAbove(wait.wakeAt - from.wakeAt, 30_000)
      }
    })
  )

  it.effect("a choice that throws kills it [A512]", () =>
    Effect.gen(function* () {
      const defect = new Error("in the callback")
      const Busy = Recovery.when((): typeof Recovery.rethrow => {
        throw defect
      })
      const exit = yield* Effect.exit(scripted(...fails(busy(1))).effect.pipe(Recovery.onError({ Busy })))
      assert.deepStrictEqual(exit, Exit.die(defect))
    })
  )
})

describe("handlers", () => {
  it.effect("a handler that fails ends the effect with that error, unwrapped, and no row decides about it [A512]", () =>
    Effect.gen(function* () {
      const broken = new Broken()
      const { effect, starts } = scripted(...fails(busy(1)))
      const table = {
        Busy: Recovery.ladder(
          Recovery.respondWith(() => Effect.fail(broken)),
          Recovery.respondWith("next rung")
        ),
        Broken: Recovery.respondWith("row of the handler"),
        orElse: Recovery.respondWith("other")
      }
      const guarded = (effect as Effect.Effect<string, Failure | Broken>).pipe(Recovery.onError(table))
      assert.strictEqual(yield* Effect.flip(guarded), broken)
      assert.strictEqual(starts.length, 1)
      const gone1 = gone(1)
      const own = scripted(...fails(busy(1)))
      const retrying = { Busy: Recovery.respondWith(() => Effect.fail(gone1)), Gone: Recovery.retry({ retries: 3 }) }
      assert.strictEqual(yield* Effect.flip(own.effect.pipe(Recovery.onError(retrying))), gone1)
      assert.strictEqual(own.starts.length, 1)
    })
  )

  it.effect("a handler that dies, throws or is interrupted ends it as that [A512]", () =>
    Effect.gen(function* () {
      const exitOf = <A>(handler: () => Effect.Effect<A>) =>
        Effect.exit(scripted(...fails(busy(1))).effect.pipe(Recovery.onError({ Busy: Recovery.respondWith(handler) })))
      assert.deepStrictEqual(yield* exitOf(() => Effect.die("boom")), Exit.die("boom"))
      assert.deepStrictEqual(
        yield* exitOf(() => {
          throw new RangeError("thrown")
        }),
        Exit.die(new RangeError("thrown"))
      )
      const interrupted = yield* exitOf(() => Effect.interrupt)
      assert.isTrue(Exit.isFailure(interrupted) && Cause.hasInterruptsOnly(interrupted.cause))
    })
  )

  it.effect("a handler that fails with an interrupt in its cause is interrupted [A111]", () =>
    Effect.gen(function* () {
      const cause = Cause.combine(Cause.fail(new Broken()), Cause.interrupt())
      const table = { Busy: Recovery.respondWith(() => Effect.failCause(cause)) }
      const exit = yield* Effect.exit(scripted(...fails(busy(1))).effect.pipe(Recovery.onError(table)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    })
  )
})

describe("ladders", () => {
  it.effect("when a rung gives up, the next rung decides about that failure, and none decides twice [P1101]", () =>
    Effect.gen(function* () {
      const errors = [busy(1), busy(2), busy(3), busy(4), busy(5)]
      const { effect, starts } = scripted(...fails(...errors))
      const Busy = Recovery.ladder(
        Recovery.retry({ retries: 1, initialBackoff: "1 second" }),
        Recovery.retry({ retries: 2, initialBackoff: "1 minute" }),
        Recovery.respondWith((error: Busy) => Effect.succeed(`answer to ${error.n}`))
      )
      const { exit } = yield* overADay(effect.pipe(Recovery.onError({ Busy })))
      assert.deepStrictEqual(starts, [0, 1000, 61_000, 181_000])
      assert.deepStrictEqual(exit, Exit.succeed("answer to 4"))
    })
  )

  it.effect("a rung that gave up early never decides again, also if another tag failed between [P1101]", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const first = Recovery.when((error: Busy) => {
        asked.push(error.n)
        return Recovery.retry({ retries: 5, maxHint: "1 second" })
      })
      const table = {
        Busy: Recovery.ladder(first, Recovery.retry({ retries: 9 })),
        Gone: Recovery.retry({ retries: 1 })
      }
      const { effect } = scripted(...fails(busy(1), busy(2, "2 seconds"), gone(3), busy(4), busy(5)), fine)
      const { exit } = yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(exit, Exit.succeed("fine"))
      assert.deepStrictEqual(asked, [1, 2])
    })
  )

  it.effect("ladders nest, and one of a single rung is that rung [P1101]", () =>
    Effect.gen(function* () {
      const retries = (n: number) => Recovery.retry<Busy>({ retries: n })
      const nested = Recovery.ladder(
        Recovery.ladder(retries(1), retries(1)),
        Recovery.ladder(Recovery.ladder(retries(1))),
        retries(1)
      )
      const { effect, starts } = scripted(...fails(busy(1), busy(2), busy(3), busy(4), busy(5)))
      const left = yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: nested })))
      assert.deepStrictEqual([left.n, starts.length], [5, 5])
    })
  )

  it("a ladder without rungs does not compile [P1101]", () => {
    // @ts-expect-error no rung at all
    assert.isFunction(() => Recovery.ladder())
  })
})
