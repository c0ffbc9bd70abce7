import { assert, describe, it } from "@effect/vitest"
import { Compaction, Recovery } from "@kintsugi/core"
import { Cause, Clock, Data, Duration, Effect, Exit, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import {
  bare,
  failed,
  type Failure as Scripted,
  play,
  resourcesOf,
  type Script,
  type Step
} from "../../_support/laws.ts"

class Busy extends Data.TaggedError("Busy")<{ readonly n: number; readonly retryAfter?: Duration.Duration }> {}
class Gone extends Data.TaggedError("Gone")<{ readonly n: number }> {}
class Odd extends Data.TaggedError("Odd")<{ readonly n: number }> {}
class Broken extends Data.TaggedError("Broken")<{}> {}

type Failure = Busy | Gone | Odd

/** An effect whose n-th run is the n-th step; a run beyond them is a defect. */
const scripted = (...steps: ReadonlyArray<Effect.Effect<string, Failure>>) => {
  const starts: Array<number> = []
  const effect = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    starts.push(now)
    return steps[starts.length - 1] ?? Effect.die(`run ${starts.length} is not in the script`)
  })
  return { effect, starts }
}

/** Runs it for a day, and says how and when it ended. */
const overADay = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    let end: number | undefined
    const clock = yield* Clock.clockWith(Effect.succeed)
    const fiber = yield* Effect.forkChild(
      Effect.onExit(effect, () => Effect.sync(() => (end = clock.currentTimeMillisUnsafe() - start)))
    )
    yield* TestClock.adjust("1 day")
    return { exit: yield* Fiber.await(fiber), end }
  })

const busy = (n: number, hint?: Duration.Input) =>
  new Busy(hint === undefined ? { n } : { n, retryAfter: Duration.fromInputUnsafe(hint) })
const gone = (n: number) => new Gone({ n })
const odd = (n: number) => new Odd({ n })

const fails = (...errors: ReadonlyArray<Failure>) => errors.map((error) => Effect.fail(error))
const fine = Effect.succeed("fine")

describe("retry", () => {
  it.effect("retries: n runs it at most 1 + n times, and the first success ends it [A201]", () =>
    Effect.gen(function* () {
      for (const failures of [0, 1, 3]) {
        const { effect, starts } = scripted(...fails(busy(1), busy(2), busy(3)).slice(0, failures), fine)
        assert.strictEqual(yield* effect.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 3 }) })), "fine")
        assert.strictEqual(starts.length, failures + 1)
      }
      const errors = [busy(1), busy(2), busy(3), busy(4)]
      const { effect, starts } = scripted(...fails(...errors))
      const left = yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 3 }) })))
      assert.strictEqual(left, errors[3])
      assert.strictEqual(starts.length, 4)
    })
  )

  it.effect("maxAttempts: m runs it at most m times in all [A202]", () =>
    Effect.gen(function* () {
      for (const maxAttempts of [1, 2, 4]) {
        const errors = [busy(1), busy(2), busy(3), busy(4)].slice(0, maxAttempts)
        const { effect, starts } = scripted(...fails(...errors))
        const left = yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: Recovery.retry({ maxAttempts }) })))
        assert.strictEqual(left, errors.at(-1))
        assert.strictEqual(starts.length, maxAttempts)
      }
    })
  )

  it("both counts, neither, or a senseless option are refused when the verdict is made [A203 A204]", () => {
    // @ts-expect-error both of them
    assert.throws(() => Recovery.retry({ retries: 1, maxAttempts: 2 }), RangeError)
    // @ts-expect-error neither of them
    assert.throws(() => Recovery.retry({ initialBackoff: "1 second" }), RangeError)
    assert.throws(() => Recovery.retry({ retries: -1 }), /retries must be a whole number of at least 0, got -1/)
    assert.throws(() => Recovery.retry({ maxAttempts: 0 }), /maxAttempts must be a whole number of at least 1, got 0/)
    assert.throws(() => Recovery.retry({ retries: 1, initialBackoff: -1 }), /initialBackoff must be a finite duration/)
  })

  it.effect("without a delay the next attempt starts at the same instant; with one, waits double [A205]", () =>
    Effect.gen(function* () {
      const errors = [busy(1), busy(2), busy(3), busy(4)]
      const hasty = scripted(...fails(...errors))
      const hastily = yield* overADay(hasty.effect.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 3 }) })))
      assert.deepStrictEqual(hasty.starts, [0, 0, 0, 0])
      assert.strictEqual(hastily.end, 0)
      const calm = scripted(...fails(...errors).map(Effect.delay("10 millis")))
      const table = { Busy: Recovery.retry({ retries: 3, initialBackoff: "500 millis" }) }
      yield* TestClock.setTime(0)
      yield* overADay(calm.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(calm.starts, [0, 510, 1520, 3530])
    })
  )

  it.effect("no sleep follows the last attempt [A206]", () =>
    Effect.gen(function* () {
      const { effect } = scripted(...fails(busy(1), busy(2)).map(Effect.delay("10 millis")))
      const table = { Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "1 hour" }) }
      const { end } = yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.strictEqual(end, 3_600_020)
    })
  )

  it.effect("every failure is looked up again: another tag is for its own row [A209]", () =>
    Effect.gen(function* () {
      const { effect, starts } = scripted(...fails(busy(1), gone(2)))
      const table = { Busy: Recovery.retry({ retries: 5 }), Gone: Recovery.respondWith("answer") }
      assert.strictEqual(yield* effect.pipe(Recovery.onError(table)), "answer")
      assert.strictEqual(starts.length, 2)
      const unlisted = scripted(...fails(busy(1), odd(2)))
      const left = yield* Effect.flip(unlisted.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual([left._tag, unlisted.starts.length], ["Odd", 2])
    })
  )

  it.effect("each row counts for the whole call: two rows of three make at most seven attempts [A210]", () =>
    Effect.gen(function* () {
      const table = { Busy: Recovery.retry({ retries: 3 }), Gone: Recovery.retry({ retries: 3 }) }
      const interleaved = scripted(
        ...fails(busy(1), gone(2), busy(3), gone(4), busy(5), gone(6), busy(7)),
        Effect.die("an eighth attempt")
      )
      const left = yield* Effect.flip(interleaved.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual([left._tag, left.n], ["Busy", 7])
      const twice = scripted(...fails(busy(1), busy(2), gone(3), busy(4), busy(5)), Effect.die("a sixth attempt"))
      const other = yield* Effect.flip(twice.effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual([other._tag, other.n], ["Busy", 5])
    })
  )

  it.effect("waits of a row go on from where they were, whatever failed between [A210]", () =>
    Effect.gen(function* () {
      const table = {
        Busy: Recovery.retry({ retries: 3, initialBackoff: "1 second" }),
        Gone: Recovery.retry({ retries: 3, initialBackoff: "1 minute" })
      }
      const { effect, starts } = scripted(...fails(busy(1), gone(2), busy(3), gone(4), busy(5)), fine)
      yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(starts, [0, 1000, 61_000, 63_000, 183_000, 187_000])
    })
  )

  it.effect("counts belong to rows and calls: one value may stand in two rows and serve many calls [A210]", () =>
    Effect.gen(function* () {
      const twice = Recovery.retry({ retries: 1, initialBackoff: "1 second" })
      const table = { Busy: twice, Gone: twice }
      const runs = Array.from({ length: 3 }, () => scripted(...fails(busy(1), gone(2)), fine))
      const all = Effect.all(
        runs.map(({ effect }) => effect.pipe(Recovery.onError(table))),
        { concurrency: "unbounded" }
      )
      const { end, exit } = yield* overADay(all)
      assert.deepStrictEqual(exit, Exit.succeed(["fine", "fine", "fine"]))
      assert.strictEqual(end, 2000)
      for (const { starts } of runs) assert.deepStrictEqual(starts, [0, 1000, 2000])
    })
  )

  it.effect("rows count apart whatever their tags look like [A210]", () =>
    Effect.gen(function* () {
      let runs = 0
      const effect = Effect.suspend((): Effect.Effect<string, { readonly _tag: "A" } | { readonly _tag: "A/0" }> =>
        Effect.fail(++runs % 2 === 1 ? { _tag: "A" } : { _tag: "A/0" })
      )
      const table = { A: Recovery.ladder(Recovery.retry({ retries: 2 })), "A/0": Recovery.retry({ retries: 2 }) }
      yield* Effect.exit(effect.pipe(Recovery.onError(table)))
      assert.strictEqual(runs, 5)
    })
  )

  it.effect("rows with absurd counts end at 10,000 attempts, with the last error [A210]", () =>
    Effect.gen(function* () {
      let runs = 0
      const counting = Effect.suspend((): Effect.Effect<string, Busy | Gone> => {
        runs++
        return Effect.fail(runs % 2 === 0 ? gone(runs) : busy(runs))
      })
      const many = Recovery.retry({ retries: 1_000_000 })
      const left = yield* Effect.flip(counting.pipe(Recovery.onError({ Busy: many, Gone: many })))
      assert.deepStrictEqual([left._tag, left.n, runs], ["Gone", 10_000, 10_000])
    })
  )

  it.effect("at that cap a ladder goes on to its next rung, and a row that answers still answers [A210 P1101]", () =>
    Effect.gen(function* () {
      let runs = 0
      const counting = (last: Failure) =>
        Effect.suspend((): Effect.Effect<string, Failure> => Effect.fail(++runs < 10_000 ? busy(runs) : last))
      const many = Recovery.retry<Busy>({ retries: 1_000_000 })
      const ladder = { Busy: Recovery.ladder(many, Recovery.respondWith("next rung")) }
      assert.strictEqual(yield* counting(busy(0)).pipe(Recovery.onError(ladder), Effect.orDie), "next rung")
      assert.strictEqual(runs, 10_000)
      runs = 0
      const table = { Busy: many, Gone: Recovery.respondWith("row of its own") }
      assert.strictEqual(yield* counting(gone(0)).pipe(Recovery.onError(table), Effect.orDie), "row of its own")
      assert.strictEqual(runs, 10_000)
    })
  )

  it.effect("a schedule is fed each error of its row, typed; when it is done, the last error leaves [A213]", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const schedule = Schedule.spaced("1 second").pipe(
        Schedule.setInputType<Busy>(),
        Schedule.while(({ input }) => {
          seen.push(input.n)
          return Effect.succeed(input.n < 4)
        })
      )
      const { effect, starts } = scripted(...fails(busy(1), gone(2), busy(3), busy(4)))
      const table = { Busy: Recovery.retry(schedule), Gone: Recovery.retry({ retries: 1 }) }
      const { exit } = yield* overADay(effect.pipe(Recovery.onError(table)))
      assert.deepStrictEqual(exit, Exit.fail(busy(4)))
      assert.deepStrictEqual(seen, [1, 3, 4])
      assert.deepStrictEqual(starts, [0, 1000, 1000, 2000])
    })
  )

  it.effect("a schedule that fails ends it with its own error; one that dies kills it [A213 A512]", () =>
    Effect.gen(function* () {
      const failing = Schedule.forever.pipe(Schedule.tap(() => Effect.fail(new Broken())))
      const first = scripted(...fails(busy(1)))
      const left = yield* Effect.flip(
        first.effect.pipe(Recovery.onError({ Busy: Recovery.retry(failing), orElse: Recovery.respondWith("never") }))
      )
      assert.instanceOf(left, Broken)
      const dying = Schedule.forever.pipe(Schedule.tap(() => Effect.die("schedule")))
      const second = scripted(...fails(busy(1)))
      const exit = yield* Effect.exit(second.effect.pipe(Recovery.onError({ Busy: Recovery.retry(dying) })))
      assert.deepStrictEqual(exit, Exit.die("schedule"))
    })
  )

  it.effect(
    "a hint is a floor under a retry, also under a schedule; one above maxHint makes the rung give up [P804]",
    () =>
      Effect.gen(function* () {
        const { effect, starts } = scripted(...fails(busy(1, "7 seconds"), busy(2, 0), busy(3, "61 seconds")))
        const { exit } = yield* overADay(effect.pipe(Recovery.onError({ Busy: Recovery.retry(Schedule.recurs(9)) })))
        assert.deepStrictEqual(starts, [0, 7000, 7001])
        assert.deepStrictEqual(exit, Exit.fail(busy(3, "61 seconds")))
        const next = scripted(...fails(busy(1, "2 minutes")))
        const table = {
          Busy: Recovery.ladder(Recovery.retry({ retries: 9, maxHint: "1 minute" }), Recovery.respondWith("elsewhere"))
        }
        const { end, exit: answered } = yield* overADay(next.effect.pipe(Recovery.onError(table)))
        assert.deepStrictEqual([end, answered], [0, Exit.succeed("elsewhere")])
      })
  )
})

describe("tables", () => {
  it.effect("the nearest table comes first, tag by tag, and the next one sees what that leaves [A501]", () =>
    Effect.gen(function* () {
      const near = { Busy: Recovery.retry({ retries: 1 }) }
      const far = { Busy: Recovery.respondWith("far"), Gone: Recovery.respondWith("gone") }
      const both = scripted(...fails(busy(1), busy(2)))
      assert.strictEqual(yield* Effect.orDie(both.effect.pipe(Recovery.onError(near), Recovery.onError(far))), "far")
      assert.strictEqual(both.starts.length, 2)
      const other = scripted(...fails(gone(1)))
      assert.strictEqual(yield* Effect.orDie(other.effect.pipe(Recovery.onError(near), Recovery.onError(far))), "gone")
    })
  )

  it.effect("an exact tag beats orElse, and changing orElse changes nothing for it [A502 A503]", () =>
    Effect.gen(function* () {
      for (const orElse of [Recovery.respondWith("other"), Recovery.rethrow, Recovery.retry({ retries: 5 })]) {
        const { effect } = scripted(...fails(busy(1)))
        const answered = effect.pipe(Recovery.onError({ orElse, Busy: Recovery.respondWith("exact") }))
        assert.strictEqual(yield* Effect.orDie(answered), "exact")
      }
      const { effect } = scripted(...fails(odd(1)))
      const table = {
        Busy: Recovery.rethrow,
        orElse: Recovery.respondWith((error: Failure) => Effect.succeed(error._tag))
      }
      assert.strictEqual(yield* Effect.orDie(effect.pipe(Recovery.onError(table))), "Odd")
    })
  )

  it.effect("tags that share orElse share its count [A502]", () =>
    Effect.gen(function* () {
      const { effect, starts } = scripted(...fails(busy(1), gone(2), odd(3)))
      const left = yield* Effect.flip(effect.pipe(Recovery.onError({ orElse: Recovery.retry({ retries: 2 }) })))
      assert.deepStrictEqual([left._tag, starts.length], ["Odd", 3])
    })
  )

  it.effect("without a row a failure leaves as itself, the same object, at the same instant [A507]", () =>
    Effect.gen(function* () {
      const error = odd(1)
      for (const table of [{}, { Busy: Recovery.respondWith("busy") }]) {
        const { effect } = scripted(Effect.fail(error))
        const { end, exit } = yield* overADay(effect.pipe(Recovery.onError(table as {})))
        assert.strictEqual(end, 0)
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === error)
      }
    })
  )

  it.effect("on success no row is asked and no instant is added [A508]", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const orElse = Recovery.when((error: Failure) => {
        asked.push(error)
        return Recovery.rethrow
      })
      const value = { answer: 42 }
      const effect: Effect.Effect<typeof value, Failure> = Effect.delay(Effect.succeed(value), "3 millis")
      const { end, exit } = yield* overADay(effect.pipe(Recovery.onError({ orElse })))
      assert.strictEqual(end, 3)
      assert.isTrue(Exit.isSuccess(exit) && exit.value === value)
      assert.deepStrictEqual(asked, [])
    })
  )

  it.effect("rethrow leaves the failure as itself, the same object, and asks no other row [A509]", () =>
    Effect.gen(function* () {
      const error = busy(1)
      const { effect, starts } = scripted(Effect.fail(error))
      const table = { Busy: Recovery.rethrow, orElse: Recovery.respondWith("other") }
      assert.strictEqual(yield* Effect.flip(effect.pipe(Recovery.onError(table))), error)
      assert.strictEqual(starts.length, 1)
    })
  )

  it.effect("what needs a model to talk to does not compile on a plain effect, and dies if it got there [A509]", () =>
    Effect.gen(function* () {
      for (const [verdict, word] of [
        [Recovery.tell(), "told"],
        [Recovery.escalate(), "escalated"],
        [Recovery.raise, "raised"],
        [Recovery.fix(() => Effect.succeed("")), "fix"],
        [Recovery.compact(Compaction.dropOldest({ keepLast: 1 })), "only a model call"]
      ] as const) {
        const { effect } = scripted(...fails(busy(1)))
        const exit = yield* Effect.exit(effect.pipe(Recovery.onError({ Busy: verdict as never })))
        const defect: unknown = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        assert.instanceOf(defect, TypeError)
        assert.include((defect as TypeError).message, word)
        assert.isTrue(Exit.hasDies(exit))
      }
    })
  )

  it.effect("respondWith answers with a value, or with an effect of the failure, and nothing runs again [A510]", () =>
    Effect.gen(function* () {
      const value = scripted(...fails(busy(1)))
      const table = { Busy: Recovery.respondWith({ empty: true }) }
      assert.deepStrictEqual(yield* Effect.orDie(value.effect.pipe(Recovery.onError(table))), { empty: true })
      const effect = scripted(...fails(busy(7)))
      const late = { Busy: Recovery.respondWith((error: Busy) => Effect.delay(Effect.succeed(error.n), "1 second")) }
      const { end, exit } = yield* overADay(effect.effect.pipe(Recovery.onError(late)))
      assert.deepStrictEqual([end, exit], [1000, Exit.succeed(7)])
      assert.deepStrictEqual([value.starts.length, effect.starts.length], [1, 1])
    })
  )
})

describe("when", () => {
  it.effect(
    "it is asked at every failure and sees the attempt, the errors before and the time since the start [A511]",
    () =>
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

  it.effect("what goes on after a restart tells a choice of no failures but its own [P1104 A511]", () =>
    Effect.gen(function* () {
      let kept: Recovery.Position | undefined
      const previous: Array<ReadonlyArray<unknown>> = []
      const Busy = Recovery.when((_error: Busy, context) => {
        previous.push(context.previous)
        return Recovery.retry<Busy>({ retries: 2, initialBackoff: "1 second" })
      })
      const guarded = (from: Recovery.Position | undefined) => {
        const { effect } = scripted(...fails(busy(1), busy(2), busy(3)))
        const onWait = (position: Recovery.Position) => Effect.sync(() => void (kept = position))
        return effect.pipe(Recovery.onErrorKept({ Busy }, from === undefined ? { onWait } : { onWait, from }))
      }
      const first = yield* Effect.forkChild(guarded(undefined))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(first)
      assert(kept !== undefined)
      yield* overADay(guarded(kept))
      assert.deepStrictEqual(previous, [[], [], [busy(1)]] as Array<unknown>)
    })
  )

  it.effect("a ladder that lost the rung on which it stood is used up [P1104 P1101]", () =>
    Effect.gen(function* () {
      let kept: Recovery.Position | undefined
      const onWait = (position: Recovery.Position) => Effect.sync(() => void (kept = position))
      const retry = (seconds: number) => Recovery.retry({ retries: 1, initialBackoff: `${seconds} seconds` })
      const { effect } = scripted(...fails(busy(1), busy(2), busy(3)))
      const long = { orElse: Recovery.ladder(retry(1), retry(2)) }
      const first = yield* Effect.forkChild(effect.pipe(Recovery.onErrorKept(long, { onWait })))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.interrupt(first)
      assert.deepInclude(kept, { attempts: 2 })
      assert(kept !== undefined)
      const later = scripted(...fails(busy(3), busy(4)))
      const short = { orElse: Recovery.ladder(retry(1)) }
      const { exit } = yield* overADay(later.effect.pipe(Recovery.onErrorKept(short, { onWait, from: kept })))
      assert.deepStrictEqual(exit, Exit.fail(busy(3)))
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
  it.effect("a handler that fails ends it with that error, unwrapped, and no row is asked about it [A512]", () =>
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

  it.effect("a handler whose failure stands beside an interrupt is interrupted [A111]", () =>
    Effect.gen(function* () {
      const cause = Cause.combine(Cause.fail(new Broken()), Cause.interrupt())
      const table = { Busy: Recovery.respondWith(() => Effect.failCause(cause)) }
      const exit = yield* Effect.exit(scripted(...fails(busy(1))).effect.pipe(Recovery.onError(table)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    })
  )
})

describe("ladders", () => {
  it.effect("the next rung is asked when one gives up, with the failure that made it, and none twice [P1101]", () =>
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

  it.effect("a rung that gave up early is not asked again, also when another tag failed between [P1101]", () =>
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

describe("toSchedule", () => {
  it.effect(
    "Effect.retry with the schedule of a verdict makes the attempts of the table, at the same instants [A516]",
    () =>
      Effect.gen(function* () {
        const verdict = Recovery.retry<Failure>({
          maxAttempts: 4,
          initialBackoff: "500 millis",
          maxBackoff: "700 millis"
        })
        const errors = [busy(1), gone(2), busy(3, "5 seconds"), busy(4)]
        const table = scripted(...fails(...errors).map(Effect.delay("100 millis")))
        const inTable = yield* overADay(table.effect.pipe(Recovery.onError({ orElse: verdict })))
        yield* TestClock.setTime(0)
        const retried = scripted(...fails(...errors).map(Effect.delay("100 millis")))
        const inRetry = yield* overADay(Effect.retry(retried.effect, Recovery.toSchedule(verdict)))
        assert.deepStrictEqual(table.starts, [0, 600, 1400, 6500])
        assert.deepStrictEqual(retried.starts, table.starts)
        assert.deepStrictEqual(inRetry, inTable)
      })
  )

  it("only a retry has a schedule [A516]", () => {
    // @ts-expect-error no schedule can say it
    assert.throws(() => Recovery.toSchedule(Recovery.rethrow), TypeError)
  })
})

describe("interruption and defects", () => {
  const handled: Array<string> = []
  const orElse = Recovery.ladder(
    Recovery.when((error: Scripted) => {
      handled.push(error._tag)
      return Recovery.retry<Scripted>({ retries: 3 })
    }),
    Recovery.respondWith("handled")
  )
  const handling = (effect: Effect.Effect<string, Scripted>) => effect.pipe(Recovery.onError({ orElse }))
  const ending = (...steps: ReadonlyArray<Step>) => {
    const script: Script = { steps, rest: { does: "succeed", takes: 0, value: "went on" } }
    handled.length = 0
    return play(script, handling)
  }

  it.effect("a defect is offered to no row, and neither is a failure beside one, which becomes one [A110]", () =>
    Effect.gen(function* () {
      const died = yield* ending({ does: "die", takes: 5 })
      assert.deepStrictEqual([died.end, died.exit], [5, "died of defect of attempt 1"])
      const both = yield* ending({ does: "fail and die", tag: "A", takes: 0 })
      assert.strictEqual(both.exit, `died of ${failed("A", 1)} and died of defect of attempt 1`)
      assert.deepStrictEqual(handled, [])
      const later = yield* ending({ does: "fail", tag: "A", takes: 0 }, { does: "fail and die", tag: "B", takes: 0 })
      assert.strictEqual(later.attempts.length, 2)
      assert.deepStrictEqual(handled, ["A"])
    })
  )

  it.effect("interruption is offered to no row, and wins over a failure beside it [A111]", () =>
    Effect.gen(function* () {
      for (const step of [
        { does: "interrupt", takes: 5 },
        { does: "fail and interrupt", tag: "A", takes: 5 }
      ] as const) {
        const first = yield* ending(step)
        assert.deepStrictEqual([first.attempts.length, first.end, first.exit], [1, 5, "interrupted"])
        assert.deepStrictEqual(handled, [])
        const later = yield* ending({ does: "fail", tag: "B", takes: 1 }, step)
        assert.deepStrictEqual([later.attempts.length, later.end, later.exit], [2, 6, "interrupted"])
        assert.deepStrictEqual(handled, ["B"])
      }
    })
  )

  it.effect("an interrupt from outside ends a wait, an attempt and a handler for good [A111]", () =>
    Effect.gen(function* () {
      const script: Script = { steps: [], rest: { does: "fail", tag: "A", takes: 1000 } }
      const policy = Recovery.ladder(
        Recovery.retry({ retries: 1, initialBackoff: "1 second" }),
        Recovery.respondWith(() => Effect.as(Effect.sleep("1 second"), "handled"))
      )
      const guard = (effect: Effect.Effect<string, Scripted>) => effect.pipe(Recovery.onError({ orElse: policy }))
      // attempt 0–1 s, wait 1–2 s, attempt 2–3 s, handler 3–4 s
      for (const [at, attempts] of [
        [500, 1],
        [1500, 1],
        [2500, 2],
        [3500, 2]
      ] as const) {
        const trace = yield* play(script, guard, at)
        assert.deepStrictEqual([trace.end, trace.exit], [at, "interrupted"])
        assert.deepStrictEqual(trace.resources, resourcesOf(attempts))
      }
      const whole = yield* play(script, guard, 4000)
      assert.deepStrictEqual([whole.end, whole.exit], [4000, "success handled"])
    })
  )

  it.effect("a cause with no failure in it has no row, and stays as it is [A507]", () =>
    Effect.gen(function* () {
      const nothing: Effect.Effect<string, Failure> = Effect.failCause(Cause.empty)
      const exit = yield* Effect.exit(nothing.pipe(Recovery.onError({ orElse: Recovery.respondWith("handled") })))
      assert.deepStrictEqual(exit, Exit.failCause(Cause.empty))
    })
  )

  it.effect("a guarded success is the unguarded one, attempt for attempt [A508]", () =>
    Effect.gen(function* () {
      const script: Script = { steps: [], rest: { does: "succeed", takes: 20, value: "fine" } }
      assert.deepStrictEqual(yield* play(script, handling), yield* play(script, bare))
    })
  )
})
